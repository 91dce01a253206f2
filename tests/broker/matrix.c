/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/broker/matrix.h"

#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/org.undersign1.h"
#include "service/base/json.h"

#include <string.h>

#define ABSENT US_REQUEST_PATH_PREFIX "00000000000000000000000000000000"

typedef struct
{
  GDBusConnection *connection;
  const char *role;
  GPtrArray *faults;
} Matrix;

typedef struct
{
  gboolean done;
  char *answer; /* "reply", or an error: our name alone, another's whole */
  char *text;
} Answer;

static void
call_done (GObject *source, GAsyncResult *result, gpointer data)
{
  Answer *answer = data;
  g_autoptr (GDBusMessage) reply = NULL;
  g_autoptr (GError) error = NULL;
  const char *name = NULL;
  GVariant *body = NULL;

  answer->done = TRUE;
  reply = g_dbus_connection_send_message_with_reply_finish (G_DBUS_CONNECTION (source), result,
                                                            &error);
  g_assert_no_error (error);
  name = g_dbus_message_get_error_name (reply);
  body = g_dbus_message_get_body (reply);
  if (name == NULL)
    answer->answer = g_strdup ("reply");
  else if (g_str_has_prefix (name, US_ERROR_PREFIX))
    answer->answer = g_strdup (name + strlen (US_ERROR_PREFIX));
  else
    answer->answer = g_strdup (name);
  if (name != NULL && body != NULL && g_variant_is_of_type (body, G_VARIANT_TYPE ("(s)")))
    g_variant_get (body, "(s)", &answer->text);
  if (answer->text == NULL)
    answer->text = g_strdup ("");
}

/* @member: "INTERFACE.MEMBER"; without an interface where it begins with a full stop */
static void
call_member (const Matrix *matrix,
             const char *path,
             const char *member,
             GVariant *body,
             Answer *out_answer)
{
  const char *dot = strrchr (member, '.');
  g_autofree char *interface = g_strndup (member, (gsize) (dot - member));
  g_autoptr (GDBusMessage) message = g_dbus_message_new_method_call (
      US_BUS_NAME, path, interface[0] != '\0' ? interface : NULL, dot + 1);

  if (body != NULL)
    g_dbus_message_set_body (message, body);
  g_dbus_connection_send_message_with_reply (matrix->connection, message,
                                             G_DBUS_SEND_MESSAGE_FLAGS_NONE, 10000, NULL, NULL,
                                             call_done, out_answer);
  while (!out_answer->done)
    g_main_context_iteration (NULL, TRUE);
}

static void
answer_clear (Answer *answer)
{
  g_free (answer->answer);
  g_free (answer->text);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Answer, answer_clear)

/* The role passed: what follows is of the call itself. */
static gboolean
is_pass (const Answer *answer)
{
  return strcmp (answer->answer, "reply") == 0 ||
         strcmp (answer->answer, "InvalidArgument") == 0 ||
         g_str_has_suffix (answer->text, "there is no such file");
}

static gboolean
is_refusal (const Answer *answer)
{
  return strcmp (answer->answer, "NotFound") == 0 ||
         strcmp (answer->answer, "org.freedesktop.DBus.Error.AccessDenied") == 0;
}

static void
compare (const Matrix *matrix, const char *member, const char *wanted, const Answer *answer)
{
  gboolean ok = FALSE;

  if (strcmp (wanted, "pass") == 0)
    ok = is_pass (answer);
  else if (strcmp (wanted, "refused") == 0)
    ok = is_refusal (answer);
  else
    ok = strcmp (wanted, answer->answer) == 0 && !is_pass (answer);
  if (!ok)
    g_ptr_array_add (matrix->faults,
                     g_strdup_printf ("%s as %s: %s, not %s (%s)", member, matrix->role,
                                      answer->answer, wanted, answer->text));
}

/* What is sent to @member about a request: right in form, and without effect but for Withdraw.
 * Leave is without one, too, from a connection that Submit() did not give it to. */
static GVariant *
body_about (const char *member, const char *request)
{
  if (g_str_has_suffix (member, ".GetCard") || g_str_has_suffix (member, ".GetReceipt"))
    return g_variant_new ("(o)", request);
  if (g_str_has_suffix (member, ".GetStatement"))
    return g_variant_new ("(oa{sv})", request, NULL);
  if (g_str_has_suffix (member, ".OpenFile"))
    return g_variant_new ("(osu)", request, "no-such-argument", 0);
  if (g_str_has_suffix (member, ".Approve"))
    return g_variant_new ("(o@aya{sv})", request, g_variant_new_bytestring ("x"), NULL);
  if (g_str_has_suffix (member, ".Deny"))
    return g_variant_new ("(osa{sv})", request, "no-such-reason", NULL);
  return NULL;
}

static void
check_roles (const Matrix *matrix, const JsonTree *roles)
{
  for (guint i = 0; i < json_tree_length (roles); i++)
    {
      const char *member = json_tree_name (roles, i);
      const char *wanted = json_tree_get_string (json_tree_member_at (roles, i), matrix->role);
      gboolean on_request = g_str_has_prefix (member, US_INTERFACE_REQUEST ".");
      g_auto (Answer) answer = { 0 };

      if (wanted == NULL)
        {
          g_ptr_array_add (matrix->faults, g_strdup_printf ("%s has no %s", member, matrix->role));
          continue;
        }
      call_member (matrix, on_request ? ABSENT : US_OBJECT_PATH, member,
                   g_variant_new ("(t)", (guint64) 1), &answer);
      compare (matrix, member, wanted, &answer);
    }
}

static void
check_requests (const Matrix *matrix, const JsonTree *requests, const char *request)
{
  for (guint i = 0; i < json_tree_length (requests); i++)
    {
      const char *member = json_tree_name (requests, i);
      const char *wanted = json_tree_get_string (json_tree_member_at (requests, i), matrix->role);
      gboolean on_request = g_str_has_prefix (member, US_INTERFACE_REQUEST ".");
      g_auto (Answer) answer = { 0 };

      if (wanted == NULL)
        {
          g_ptr_array_add (matrix->faults, g_strdup_printf ("%s has no %s", member, matrix->role));
          continue;
        }
      call_member (matrix, on_request ? request : US_OBJECT_PATH, member,
                   body_about (member, request), &answer);
      compare (matrix, member, wanted, &answer);
    }
}

/* A member of the interfaces that nobody wrote an expectation for. */
static void
check_complete (const Matrix *matrix, const JsonTree *roles)
{
  static const GDBusInterfaceInfo *const infos[] = {
    &us_org_undersign1_agent_interface,
    &us_org_undersign1_approver_interface,
    &us_org_undersign1_request_interface,
  };

  for (guint i = 0; i < G_N_ELEMENTS (infos); i++)
    for (guint j = 0; infos[i]->methods[j] != NULL; j++)
      {
        g_autofree char *member =
            g_strdup_printf ("%s.%s", infos[i]->name, infos[i]->methods[j]->name);

        if (json_tree_member (roles, member) == NULL)
          g_ptr_array_add (matrix->faults, g_strdup_printf ("%s is not in the matrix", member));
      }
}

GPtrArray *
matrix_check (GDBusConnection *connection,
              const char *file,
              const char *role,
              const char *request)
{
  static const JsonLimits limits = { .bytes = 65536, .depth = 4, .string = 256, .items = 256 };
  Matrix matrix = { connection, role, g_ptr_array_new_with_free_func (g_free) };
  g_autofree char *text = NULL;
  g_autoptr (JsonTree) tree = NULL;
  g_autoptr (GError) error = NULL;
  const JsonTree *roles = NULL;
  gsize len = 0;

  g_file_get_contents (file, &text, &len, &error);
  g_assert_no_error (error);
  tree = json_tree_parse (text, len, &limits, &error);
  g_assert_no_error (error);

  roles = json_tree_member (tree, "roles");
  check_complete (&matrix, roles);
  check_roles (&matrix, roles);
  if (request != NULL)
    check_requests (&matrix, json_tree_member (tree, "requests"), request);
  return matrix.faults;
}
