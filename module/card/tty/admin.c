/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls of the administrator's mechanism.  Called by the passkey verbs.  polkit decides whether the
 * person may; this file only carries the question, and gives it time to be answered.
 */
#include "module/card/tty/admin.h"

#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "module/card/tty/agent.h"
#include "module/card/tty/bus.h"
#include "service/base/encode.h"

#include <string.h>

#define POLKIT_TIMEOUT 150000 /* somebody types an administrator's password */

struct Admin
{
  GDBusConnection *connection;
  char *owner;
  char *rp; /* of keys held on this machine */
  Agent *agent;
};

Admin *
admin_open (const Trust *trust, GError **error)
{
  g_autoptr (Admin) admin = g_new0 (Admin, 1);

  admin->connection = bus_connect (trust, error);
  if (admin->connection == NULL)
    return NULL;
  admin->rp = g_strconcat ("undersign:", trust->host, NULL);
  admin->owner = bus_pin (admin->connection, US_ADMIN_BUS_NAME, trust->admin_uid, error);
  if (admin->owner == NULL)
    return NULL;
  admin->agent = agent_start ();
  return g_steal_pointer (&admin);
}

void
admin_close (Admin *admin)
{
  if (admin == NULL)
    return;
  g_clear_pointer (&admin->agent, agent_stop);
  g_clear_object (&admin->connection);
  g_free (admin->owner);
  g_free (admin->rp);
  g_free (admin);
}

void
admin_enrolment_free (AdminEnrolment *enrolment)
{
  if (enrolment == NULL)
    return;
  g_free (enrolment->id);
  g_free (enrolment->rp);
  g_clear_pointer (&enrolment->user_id, g_bytes_unref);
  g_clear_pointer (&enrolment->exclude, g_ptr_array_unref);
  g_free (enrolment);
}

static GVariant *
call (
    Admin *admin, const char *member, GVariant *parameters, const char *reply_type, GError **error)
{
  return bus_call (admin->connection, admin->owner, US_ADMIN_OBJECT_PATH, US_INTERFACE_ADMIN,
                   member, parameters, reply_type, POLKIT_TIMEOUT, error);
}

static void
read_exclude (AdminEnrolment *enrolment, GVariant *parameters)
{
  g_autoptr (GVariant) list =
      g_variant_lookup_value (parameters, "exclude", G_VARIANT_TYPE ("aay"));

  enrolment->exclude = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  for (gsize i = 0; list != NULL && i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) id = g_variant_get_child_value (list, i);

      g_ptr_array_add (enrolment->exclude, g_variant_get_data_as_bytes (id));
    }
}

static void
read_user_id (AdminEnrolment *enrolment, GVariant *parameters)
{
  g_autoptr (GVariant) id = g_variant_lookup_value (parameters, "user-id", G_VARIANT_TYPE ("ay"));

  if (id != NULL)
    enrolment->user_id = g_variant_get_data_as_bytes (id);
}

static AdminEnrolment *
read_enrolment (Admin *admin, GVariant *reply, GError **error)
{
  g_autoptr (AdminEnrolment) enrolment = g_new0 (AdminEnrolment, 1);
  g_autoptr (GVariant) challenge = NULL, parameters = NULL;
  const char *rp = "", *origin = "";
  const void *data = NULL;
  gsize len = 0;

  g_variant_get (reply, "(s@ay@a{sv})", &enrolment->id, &challenge, &parameters);
  data = g_variant_get_fixed_array (challenge, &len, 1);
  g_variant_lookup (parameters, "rp", "&s", &rp);
  g_variant_lookup (parameters, "origin", "&s", &origin);
  /* a key held on the desktop is for this machine and nothing else, whatever it is asked */
  if (len != PAE_DIGEST_SIZE || strcmp (rp, admin->rp) != 0 ||
      (origin[0] != '\0' && strcmp (origin, admin->rp) != 0))
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                    "the service began an enrolment that is not for %s", admin->rp);
      return NULL;
    }
  memcpy (enrolment->challenge, data, len);
  enrolment->rp = g_strdup (rp);
  read_user_id (enrolment, parameters);
  read_exclude (enrolment, parameters);
  return g_steal_pointer (&enrolment);
}

AdminEnrolment *
admin_begin_enrol (
    Admin *admin, const char *user, const char *kind, const char *label, GError **error)
{
  g_autoptr (GVariant) reply = NULL;
  GVariantDict options;

  g_variant_dict_init (&options, NULL);
  g_variant_dict_insert (&options, "kind", "s", kind);
  g_variant_dict_insert (&options, "label", "s", label);
  reply =
      call (admin, "BeginEnroll", g_variant_new ("(s@a{sv})", user, g_variant_dict_end (&options)),
            "(saya{sv})", error);
  return reply != NULL ? read_enrolment (admin, reply, error) : NULL;
}

static GVariant *
bytes_variant (GBytes *bytes)
{
  return g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, bytes, TRUE);
}

gboolean
admin_finish_enrol (Admin *admin,
                    const AdminEnrolment *enrolment,
                    const KeyRegistration *registration,
                    GError **error)
{
  g_autoptr (GVariant) reply = NULL, id = NULL;
  g_autoptr (GBytes) credential = NULL;
  GVariantDict options;

  g_variant_dict_init (&options, NULL);
  g_variant_dict_insert_value (&options, "client-data", bytes_variant (registration->client_data));
  g_variant_dict_insert_value (&options, "attestation", bytes_variant (registration->attestation));
  reply = call (admin, "FinishEnroll",
                g_variant_new ("(s@a{sv})", enrolment->id, g_variant_dict_end (&options)), "(ay)",
                error);
  if (reply == NULL)
    return FALSE;
  g_variant_get (reply, "(@ay)", &id);
  credential = g_variant_get_data_as_bytes (id);
  if (!g_bytes_equal (credential, registration->credential))
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                         "the service enrolled another credential than it was given");
  return TRUE;
}

gboolean
admin_revoke (Admin *admin, GBytes *credential, GError **error)
{
  g_autoptr (GVariant) reply = call (
      admin, "RevokePasskey", g_variant_new ("(@ay)", bytes_variant (credential)), "()", error);

  return reply != NULL;
}
