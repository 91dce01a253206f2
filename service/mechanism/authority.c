/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * polkit over D-Bus.  polkit itself waits for ever for a person, so the time-out is ours.  No
 * polkit, an error of it, an answer of another shape and no answer in time are all a denial.
 */
#include "service/mechanism/authority.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#define POLKIT_NAME "org.freedesktop.PolicyKit1"
#define POLKIT_PATH "/org/freedesktop/PolicyKit1/Authority"
#define POLKIT_INTERFACE "org.freedesktop.PolicyKit1.Authority"
#define POLKIT_ALLOW_INTERACTION 1u

struct Authority
{
  GDBusConnection *bus;
  GCancellable *cancellable;
  char *action;
  char *cancellation; /* polkit's handle on this check */
  guint timer;
  gboolean timed_out, is_cancelled;
  AuthorityDone done;
  gpointer data;
};

static void
check_free (Authority *check)
{
  if (check->timer != 0)
    g_source_remove (check->timer);
  g_object_unref (check->bus);
  g_object_unref (check->cancellable);
  g_free (check->action);
  g_free (check->cancellation);
  g_free (check);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Authority, check_free)

static gboolean
read_answer (const Authority *check, GVariant *reply, GError **error)
{
  gboolean authorised = FALSE, challenge = FALSE;

  if (!g_variant_is_of_type (reply, G_VARIANT_TYPE ("((bba{ss}))")))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_DENIED_BY_RULE,
                         "polkit gave no answer for %s", check->action);
  g_variant_get (reply, "((bb@a{ss}))", &authorised, &challenge, NULL);
  if (authorised)
    return TRUE;
  return us_error_set (error, US_ERROR_REFUSED, US_REASON_DENIED_BY_RULE,
                       challenge ? "%s needs authentication, and nobody was asked for it"
                                 : "polkit does not allow %s",
                       check->action);
}

static void
on_answer (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (Authority) check = data;
  g_autoptr (GError) bus_error = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply =
      g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, &bus_error);

  if (check->is_cancelled)
    us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                  "the service ends, and polkit has not answered for %s", check->action);
  else if (check->timed_out)
    us_error_set (&error, US_ERROR_REFUSED, US_REASON_DENIED_BY_RULE,
                  "polkit did not answer for %s in time", check->action);
  else if (reply == NULL)
    {
      g_message ("polkit: %s", bus_error->message);
      us_error_set (&error, US_ERROR_REFUSED, US_REASON_DENIED_BY_RULE,
                    "polkit gave no answer for %s", check->action);
    }
  else
    read_answer (check, reply, &error);
  check->done (error, check->data);
}

/* polkit is told, and its answer is none any more. */
static void
check_end (Authority *check)
{
  g_dbus_connection_call (check->bus, POLKIT_NAME, POLKIT_PATH, POLKIT_INTERFACE,
                          "CancelCheckAuthorization", g_variant_new ("(s)", check->cancellation),
                          NULL, G_DBUS_CALL_FLAGS_NO_AUTO_START, 1000, NULL, NULL, NULL);
  g_cancellable_cancel (check->cancellable);
}

static gboolean
on_timeout (gpointer data)
{
  Authority *check = data;

  check->timer = 0;
  check->timed_out = TRUE;
  check_end (check);
  return G_SOURCE_REMOVE;
}

void
authority_cancel (Authority *check)
{
  check->is_cancelled = TRUE;
  check_end (check);
}

Authority *
authority_check (GDBusConnection *bus,
                 const char *action,
                 GVariant *details,
                 const char *sender,
                 gboolean interactive,
                 guint seconds,
                 AuthorityDone done,
                 gpointer data)
{
  static guint64 serial = 0;
  Authority *check = g_new0 (Authority, 1);
  GVariantBuilder subject;

  check->bus = g_object_ref (bus);
  check->cancellable = g_cancellable_new ();
  check->action = g_strdup (action);
  check->cancellation = g_strdup_printf ("undersign-%" G_GUINT64_FORMAT, ++serial);
  check->done = done;
  check->data = data;
  check->timer = g_timeout_add_seconds (seconds, on_timeout, check);

  g_variant_builder_init (&subject, G_VARIANT_TYPE ("a{sv}"));
  g_variant_builder_add (&subject, "{sv}", "name", g_variant_new_string (sender));
  g_dbus_connection_call (
      bus, POLKIT_NAME, POLKIT_PATH, POLKIT_INTERFACE, "CheckAuthorization",
      g_variant_new ("((sa{sv})s@a{ss}us)", "system-bus-name", &subject, action,
                     details != NULL ? details : g_variant_new ("a{ss}", NULL),
                     interactive ? POLKIT_ALLOW_INTERACTION : 0u, check->cancellation),
      NULL, G_DBUS_CALL_FLAGS_NONE, G_MAXINT, check->cancellable, on_answer, check);
  return check;
}
