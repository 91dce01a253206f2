/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A service for the tests of the terminal card, on a bus of their own: it shows the cards that it
 * is told to show, right or spoiled, and verifies what comes back with the executor's own checks.
 * Commands come on standard input, one a line; what is asked of it goes to standard output.
 */
#include "dbus/error-bus.h"
#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/org.undersign1.Admin.h"
#include "dbus/org.undersign1.h"
#include "dbus/reason.h"
#include "service/passkey/passkey.h"
#include "tests/card/details.h"
#include "tests/record/sample.h"

#include <gio/gio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct
{
  GDBusConnection *bus;
  GMainLoop *loop;
  char *listener;    /* who registered last */
  GHashTable *cards; /* request → flavour */
  char *statement;   /* how statements are spoiled */
  char *outcome;     /* state after an approval */
  char *result;
  char *enrol;            /* "accept", "invalid" (policy), "refuse", "lose" (the answer), or a relying party */
  char *attestation;      /* folder of the makers of hardware keys */
  char *kind;             /* of the enrolment that is open or was the last */
  gboolean exclude;       /* whether the one passkey is named as one that is there */
  Passkey *passkey;       /* (nullable) */
  GBytes *last_statement; /* (nullable) */
  guint8 challenge[PAE_DIGEST_SIZE];
} Mock;

static void out (const char *format, ...) G_GNUC_PRINTF (1, 2);

static void
out (const char *format, ...)
{
  va_list args;

  va_start (args, format);
  vprintf (format, args);
  va_end (args);
  putchar ('\n');
  fflush (stdout);
}

/* --- records --- */

static char *
long_text (void)
{
  GString *text = g_string_new (NULL);

  for (guint i = 1; i <= 120; i++)
    g_string_append_printf (text, "line %u of the body, and some more words to fill it\n", i);
  return g_string_free (text, FALSE);
}

/* The sample with what a terminal could obey in its text and its claim; JSON has it escaped. */
static Record *
make_nasty (void)
{
  static const char claim[] = "\\u001b]0;owned\\u0007 \\u001b[?1049l \342\200\213please";
  static const char text[] = "safe\\n\\u001b[2J\\u001b[1;1HBcc: none\302\233"
                             "31m\342\200\256txt";
  g_autoptr (GBytes) bytes = sample_replace ("The manager asked for it.", claim);
  gsize len;
  const char *data = g_bytes_get_data (bytes, &len);
  g_autoptr (GString) json = g_string_new_len (data, (gssize) len);
  g_autoptr (GBytes) replaced = NULL;
  g_autoptr (GError) error = NULL;
  Record *record = NULL;

  g_assert_cmpuint (g_string_replace (json, "the report.", text, 1), ==, 1);
  replaced = g_bytes_new (json->str, json->len);
  record = record_decode (replaced, &error);
  g_assert_no_error (error);
  return record;
}

static Record *
make_record (const char *flavour)
{
  g_autoptr (RecordBuilder) builder = sample_builder ();
  g_autoptr (GError) error = NULL;
  g_autofree char *body = long_text ();
  Record *record = NULL;

  if (strcmp (flavour, "nasty") == 0)
    return make_nasty ();
  if (strcmp (flavour, "long") == 0)
    record_builder_argument (builder, "more", "More", "text", json_tree_new_string (body));
  else if (strcmp (flavour, "changed") == 0)
    record_builder_argument (builder, "cc", "Cc", "email-list",
                             sample_json ("[\"new@example.com\"]"));
  record = record_builder_end (builder, &error);
  g_assert_no_error (error);
  return record;
}

static GBytes *
credential_of (Mock *mock)
{
  return mock->passkey != NULL ? g_bytes_ref (mock->passkey->credential)
                               : g_bytes_new ("nobody's", 8);
}

static GVariant *
get_card (Mock *mock, const char *flavour)
{
  g_autoptr (Record) record = make_record (flavour);
  g_autoptr (GBytes) credential = credential_of (mock);
  g_autoptr (GVariantDict) details = test_details (record, credential, mock->kind);
  GBytes *bytes = record_bytes (record);
  g_autoptr (GBytes) tampered = NULL;

  g_variant_dict_insert (details, "deadline", "t", G_GUINT64_CONSTANT (1) << 60);
  if (strcmp (flavour, "tampered") == 0)
    {
      tampered = sample_replace ("security@example.com", "security@example.org");
      bytes = tampered;
    }
  if (strcmp (flavour, "answered") == 0)
    g_variant_dict_insert (details, "answered", "b", TRUE);
  if (strcmp (flavour, "ended") == 0)
    g_variant_dict_insert (details, "state", "s", "expired");
  return g_variant_new ("(@ay@a{sv})",
                        g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, bytes, TRUE),
                        g_variant_dict_end (details));
}

/* --- statements --- */

static const char *spoil_request;
static const char *spoil_how;

static void
put (char **member, const char *value)
{
  g_free (*member);
  *member = g_strdup (value);
}

static void
spoil (Statement *statement)
{
  put (&statement->request, spoil_request);
  if (strcmp (spoil_how, "deny") == 0)
    put (&statement->decision, "deny");
  else if (strcmp (spoil_how, "request") == 0)
    put (&statement->request, TEST_SUPERSEDED);
  else if (strcmp (spoil_how, "record") == 0)
    statement->record[10] = statement->record[10] == '0' ? '1' : '0';
  else if (strcmp (spoil_how, "user") == 0)
    put (&statement->approver_name, "somebody");
  else if (strcmp (spoil_how, "uid") == 0)
    statement->approver_uid++;
  else if (strcmp (spoil_how, "credential") == 0)
    put (&statement->credential, "AAAA");
  else if (strcmp (spoil_how, "rp") == 0)
    put (&statement->rp, "undersign:ffffffffffffffffffffffffffffffff");
  else if (strcmp (spoil_how, "expired") == 0)
    {
      put (&statement->issued, "2020-01-01T00:00:00Z");
      put (&statement->expires, "2020-01-01T00:10:00Z");
    }
}

static GVariant *
get_statement (Mock *mock, const char *request, const char *flavour)
{
  g_autoptr (Record) record = make_record (flavour);
  g_autoptr (GBytes) credential = credential_of (mock);

  spoil_request = request;
  spoil_how = mock->statement;
  g_clear_pointer (&mock->last_statement, g_bytes_unref);
  mock->last_statement =
      test_statement (record, NULL, credential, g_get_user_name (), getuid (), spoil);
  return g_variant_new (
      "(@ay)", g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, mock->last_statement, TRUE));
}

static GBytes *
member_bytes (GVariant *dict, const char *name)
{
  g_autoptr (GVariant) value = g_variant_lookup_value (dict, name, G_VARIANT_TYPE_BYTESTRING);

  return value != NULL ? g_variant_get_data_as_bytes (value) : NULL;
}

static gboolean
verify (Mock *mock, GBytes *statement, GVariant *dict, GError **error)
{
  g_auto (Assertion)
      assertion = { member_bytes (dict, "client-data"), member_bytes (dict, "auth-data"),
                    member_bytes (dict, "signature") };
  guint8 challenge[PAE_DIGEST_SIZE];
  guint32 counter = 0;

  if (mock->last_statement == NULL || !g_bytes_equal (statement, mock->last_statement))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_STATEMENT_CHANGED, "another");
  statement_challenge (statement, challenge);
  if (!passkey_verify (mock->passkey, challenge, &assertion, &counter, error) ||
      !passkey_check_counter (mock->passkey, counter, error))
    return FALSE;
  mock->passkey->counter = counter;
  return TRUE;
}

static void
approve (Mock *mock, const char *request, GVariant *parameters, GDBusMethodInvocation *call)
{
  g_autoptr (GVariant) statement = NULL, dict = NULL;
  g_autoptr (GBytes) bytes = NULL;
  GError *error = NULL;

  g_variant_get (parameters, "(&o@ay@a{sv})", NULL, &statement, &dict);
  bytes = g_variant_get_data_as_bytes (statement);
  if (!verify (mock, bytes, dict, &error))
    {
      out ("approve %s refused %s", request, error->message);
      g_dbus_method_invocation_take_error (call, error);
      return;
    }
  out ("approve %s ok %u", request, mock->passkey->counter);
  g_dbus_method_invocation_return_value (
      call,
      g_variant_new ("(s)", strcmp (mock->outcome, "pending") == 0 ? "pending" : "executing"));
}

/* With a statement it is a signed one. */
static void
deny (Mock *mock, const char *request, GVariant *parameters, GDBusMethodInvocation *call)
{
  g_autoptr (GVariant) dict = NULL;
  g_autoptr (GBytes) statement = NULL;
  GError *error = NULL;
  const char *reason = NULL;

  g_variant_get (parameters, "(&o&s@a{sv})", NULL, &reason, &dict);
  statement = member_bytes (dict, "statement");
  if (statement != NULL && !verify (mock, statement, dict, &error))
    {
      out ("deny %s refused %s", request, error->message);
      g_dbus_method_invocation_take_error (call, error);
      return;
    }
  out ("deny %s %s%s", request, reason, statement != NULL ? " signed" : "");
  g_dbus_method_invocation_return_value (call, g_variant_new ("(s)", "denied"));
}

/* --- the bus --- */

static void
call_approver (Mock *mock, const char *member, GVariant *parameters, GDBusMethodInvocation *call)
{
  const char *path = US_REQUEST_PATH_PREFIX, *request = NULL, *flavour = NULL;

  if (strcmp (member, "Register") == 0)
    {
      GVariantBuilder list;
      GHashTableIter iter;
      gpointer key;

      g_free (mock->listener);
      mock->listener = g_strdup (g_dbus_method_invocation_get_sender (call));
      g_variant_builder_init (&list, G_VARIANT_TYPE ("a(os)"));
      g_hash_table_iter_init (&iter, mock->cards);
      while (g_hash_table_iter_next (&iter, &key, NULL))
        {
          g_autofree char *object = g_strconcat (US_REQUEST_PATH_PREFIX, key, NULL);

          g_variant_builder_add (&list, "(os)", object, "pending");
        }
      g_dbus_method_invocation_return_value (
          call, g_variant_new ("(@a(os))", g_variant_builder_end (&list)));
      return;
    }
  g_variant_get_child (parameters, 0, "&o", &path);
  request = path + strlen (US_REQUEST_PATH_PREFIX);
  flavour = g_hash_table_lookup (mock->cards, request);
  if (flavour == NULL)
    g_dbus_method_invocation_return_error (call, US_ERROR, US_ERROR_NOT_FOUND,
                                           "not-found: no card");
  else if (strcmp (member, "GetCard") == 0)
    g_dbus_method_invocation_return_value (call, get_card (mock, flavour));
  else if (strcmp (member, "GetStatement") == 0)
    g_dbus_method_invocation_return_value (call, get_statement (mock, request, flavour));
  else if (strcmp (member, "Approve") == 0)
    approve (mock, request, parameters, call);
  else if (strcmp (member, "Deny") == 0)
    deny (mock, request, parameters, call);
  else
    g_dbus_method_invocation_return_error (call, US_ERROR, US_ERROR_NOT_FOUND, "not-found: member");
}

static void
call_request (Mock *mock, const char *member, GDBusMethodInvocation *call)
{
  GVariantDict details;

  if (strcmp (member, "Watch") == 0)
    {
      g_dbus_method_invocation_return_value (call, NULL);
      return;
    }
  g_variant_dict_init (&details, NULL);
  g_variant_dict_insert (&details, "executed", "s",
                         strcmp (mock->outcome, "done") == 0 ? "yes" : "no");
  g_variant_dict_insert (&details, "reason", "s", "");
  g_variant_dict_insert (&details, "result", "s", mock->result);
  g_dbus_method_invocation_return_value (
      call, g_variant_new ("(s@a{sv})", mock->outcome, g_variant_dict_end (&details)));
}

/* The passkey that is there, where it is to be told of. */
static GVariant *
excluded (Mock *mock)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aay"));
  if (mock->exclude && mock->passkey != NULL)
    g_variant_builder_add_value (
        &builder,
        g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, mock->passkey->credential, TRUE));
  return g_variant_builder_end (&builder);
}

static void
begin_enrol (Mock *mock, GVariant *arguments, GDBusMethodInvocation *call)
{
  g_autoptr (GVariant) options = g_variant_get_child_value (arguments, 1);
  const char *kind = "";
  GVariantDict parameters;

  if (strcmp (mock->enrol, "invalid") == 0)
    {
      g_dbus_method_invocation_return_error (call, US_ERROR, US_ERROR_POLICY_INVALID,
                                             "policy-invalid: a.rule:1: \033[2J\nb.rule: no\nc");
      return;
    }
  g_variant_lookup (options, "kind", "&s", &kind);
  put (&mock->kind, kind);
  memset (mock->challenge, 0x5a, sizeof mock->challenge);
  g_variant_dict_init (&parameters, NULL);
  g_variant_dict_insert (&parameters, "rp", "s",
                         strchr (mock->enrol, '.') != NULL ? mock->enrol : TEST_RP);
  g_variant_dict_insert (&parameters, "origin", "s", "");
  g_variant_dict_insert_value (
      &parameters, "user-id",
      g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, mock->challenge, sizeof mock->challenge, 1));
  g_variant_dict_insert_value (&parameters, "exclude", excluded (mock));
  g_dbus_method_invocation_return_value (
      call, g_variant_new ("(s@ay@a{sv})", TEST_REQUEST,
                           g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, mock->challenge,
                                                      sizeof mock->challenge, 1),
                           g_variant_dict_end (&parameters)));
}

static void
finish_enrol (Mock *mock, GVariant *parameters, GDBusMethodInvocation *call)
{
  g_autoptr (GVariant) dict = g_variant_get_child_value (parameters, 1);
  g_autoptr (GBytes) client_data = member_bytes (dict, "client-data");
  g_autoptr (GBytes) attestation = member_bytes (dict, "attestation");
  g_autoptr (AttestationRoots) roots = NULL;
  Registration registration = { TEST_RP, "", { 0 }, client_data, attestation, NULL };
  GError *error = NULL;

  if (strcmp (mock->enrol, "refuse") == 0)
    {
      g_dbus_method_invocation_return_error (call, US_ERROR, US_ERROR_REFUSED,
                                             "credential-exists: it is there");
      return;
    }
  if (strcmp (mock->kind, "hardware") == 0)
    roots = attestation_roots_load (mock->attestation, getuid (), NULL);
  g_assert_true ((roots != NULL) == (strcmp (mock->kind, "hardware") == 0));
  registration.roots = roots;
  memcpy (registration.challenge, mock->challenge, sizeof mock->challenge);
  g_clear_pointer (&mock->passkey, passkey_free);
  mock->passkey = passkey_register (&registration, &error);
  if (mock->passkey == NULL)
    {
      out ("enrol refused %s", error->message);
      g_dbus_method_invocation_take_error (call, error);
      return;
    }
  out ("enrol ok");
  if (strcmp (mock->enrol, "lose") == 0)
    {
      g_dbus_method_invocation_return_dbus_error (call, "org.freedesktop.DBus.Error.NoReply",
                                                  "it was disconnected");
      return;
    }
  g_dbus_method_invocation_return_value (
      call, g_variant_new ("(@ay)", g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING,
                                                              mock->passkey->credential, TRUE)));
}

/* Of 32 twos it knows nothing, and of 32 ones that they were revoked before. */
static void
revoke_passkey (GVariant *parameters, GDBusMethodInvocation *call)
{
  g_autoptr (GVariant) id = g_variant_get_child_value (parameters, 0);
  const guint8 *bytes = g_variant_get_data (id);
  const gsize len = g_variant_get_size (id);

  out ("revoke");
  if (len != 32 || (bytes[0] != 1 && bytes[0] != 2) || memcmp (bytes, bytes + 1, len - 1) != 0)
    g_dbus_method_invocation_return_value (call, NULL);
  else if (bytes[0] == 1)
    g_dbus_method_invocation_return_error (call, US_ERROR, US_ERROR_WRONG_STATE,
                                           "credential-revoked: it was revoked before");
  else
    g_dbus_method_invocation_return_error (call, US_ERROR, US_ERROR_NOT_FOUND,
                                           "credential-unknown: nobody has enrolled it");
}

static void
call_admin (Mock *mock, const char *member, GVariant *parameters, GDBusMethodInvocation *call)
{
  if (strcmp (member, "BeginEnroll") == 0)
    begin_enrol (mock, parameters, call);
  else if (strcmp (member, "FinishEnroll") == 0)
    finish_enrol (mock, parameters, call);
  else if (strcmp (member, "RevokePasskey") == 0)
    revoke_passkey (parameters, call);
  else
    g_dbus_method_invocation_return_error (call, US_ERROR, US_ERROR_NOT_FOUND, "not-found: member");
}

static void
on_call (GDBusConnection *bus,
         const char *sender,
         const char *path,
         const char *interface,
         const char *member,
         GVariant *parameters,
         GDBusMethodInvocation *call,
         gpointer data)
{
  if (strcmp (interface, US_INTERFACE_APPROVER) == 0)
    call_approver (data, member, parameters, call);
  else if (strcmp (interface, US_INTERFACE_REQUEST) == 0)
    call_request (data, member, call);
  else
    call_admin (data, member, parameters, call);
}

static const GDBusInterfaceVTable table = { .method_call = on_call };

static GDBusInterfaceInfo **
introspect (
    GDBusConnection *bus, const char *sender, const char *path, const char *node, gpointer data)
{
  GDBusInterfaceInfo **infos = g_new0 (GDBusInterfaceInfo *, 2);

  infos[0] =
      g_dbus_interface_info_ref ((GDBusInterfaceInfo *) &us_org_undersign1_request_interface);
  return infos;
}

static const GDBusInterfaceVTable *
dispatch (GDBusConnection *bus,
          const char *sender,
          const char *path,
          const char *interface,
          const char *node,
          gpointer *out_data,
          gpointer data)
{
  *out_data = data;
  return &table;
}

static char **
no_nodes (GDBusConnection *bus, const char *sender, const char *path, gpointer data)
{
  return NULL;
}

static const GDBusSubtreeVTable subtree = { no_nodes, introspect, dispatch, { NULL } };

static void
own (Mock *mock, const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply = g_dbus_connection_call_sync (
      mock->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
      "RequestName", g_variant_new ("(su)", name, 4), G_VARIANT_TYPE ("(u)"), 0, -1, NULL, &error);

  g_assert_no_error (error);
}

static void
signal_card (Mock *mock, const char *name, GVariant *parameters)
{
  if (mock->listener != NULL)
    g_dbus_connection_emit_signal (mock->bus, mock->listener, US_OBJECT_PATH, US_INTERFACE_APPROVER,
                                   name, parameters, NULL);
}

/* --- commands --- */

static void
obey (Mock *mock, char **words)
{
  g_autofree char *path = g_strconcat (US_REQUEST_PATH_PREFIX, words[1], NULL);

  if (strcmp (words[0], "card") == 0)
    {
      g_hash_table_insert (mock->cards, g_strdup (words[1]), g_strdup (words[2]));
      signal_card (mock, "CardAdded", g_variant_new ("(o)", path));
    }
  else if (strcmp (words[0], "remove") == 0)
    {
      g_hash_table_remove (mock->cards, words[1]);
      signal_card (mock, "CardRemoved", g_variant_new ("(os)", path, words[2]));
    }
  else if (strcmp (words[0], "statement") == 0)
    put (&mock->statement, words[1]);
  else if (strcmp (words[0], "enrol") == 0)
    put (&mock->enrol, words[1]);
  else if (strcmp (words[0], "attestation") == 0)
    put (&mock->attestation, words[1]);
  else if (strcmp (words[0], "exclude") == 0)
    mock->exclude = strcmp (words[1], "yes") == 0;
  else if (strcmp (words[0], "outcome") == 0)
    {
      put (&mock->outcome, words[1]);
      put (&mock->result, words[2]);
    }
  else
    g_error ("no such command: %s", words[0]);
  out ("ok");
}

static gboolean
on_command (GIOChannel *channel, GIOCondition condition, gpointer data)
{
  Mock *mock = data;
  g_autofree char *line = NULL;
  g_auto (GStrv) words = NULL;

  if (g_io_channel_read_line (channel, &line, NULL, NULL, NULL) != G_IO_STATUS_NORMAL)
    {
      g_main_loop_quit (mock->loop);
      return G_SOURCE_REMOVE;
    }
  words = g_strsplit (g_strchomp (line), " ", 3);
  obey (mock, words);
  return G_SOURCE_CONTINUE;
}

static void
serve (Mock *mock)
{
  g_autoptr (GError) error = NULL;

  mock->bus = g_bus_get_sync (G_BUS_TYPE_SYSTEM, NULL, &error);
  g_assert_no_error (error);
  us_error_register_bus ();
  g_dbus_connection_register_object (mock->bus, US_OBJECT_PATH,
                                     (GDBusInterfaceInfo *) &us_org_undersign1_approver_interface,
                                     &table, mock, NULL, &error);
  g_assert_no_error (error);
  g_dbus_connection_register_subtree (mock->bus, "/org/undersign1/request", &subtree,
                                      G_DBUS_SUBTREE_FLAGS_DISPATCH_TO_UNENUMERATED_NODES, mock,
                                      NULL, &error);
  g_assert_no_error (error);
  g_dbus_connection_register_object (mock->bus, US_ADMIN_OBJECT_PATH,
                                     (GDBusInterfaceInfo *) &us_org_undersign1_admin_interface,
                                     &table, mock, NULL, &error);
  g_assert_no_error (error);
  own (mock, US_BUS_NAME);
  own (mock, US_ADMIN_BUS_NAME);
}

int
main (void)
{
  Mock mock = { .statement = g_strdup ("good"),
                .outcome = g_strdup ("done"),
                .result = g_strdup ("sent"),
                .enrol = g_strdup ("accept"),
                .attestation = g_strdup ("/nonexistent"),
                .kind = g_strdup ("software") };
  g_autoptr (GIOChannel) commands = g_io_channel_unix_new (STDIN_FILENO);

  mock.cards = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  mock.loop = g_main_loop_new (NULL, FALSE);
  serve (&mock);
  g_io_add_watch (commands, G_IO_IN | G_IO_HUP, on_command, &mock);
  out ("ready");
  g_main_loop_run (mock.loop);

  g_main_loop_unref (mock.loop);
  g_hash_table_unref (mock.cards);
  g_clear_object (&mock.bus);
  g_clear_pointer (&mock.passkey, passkey_free);
  g_clear_pointer (&mock.last_statement, g_bytes_unref);
  g_free (mock.listener);
  g_free (mock.statement);
  g_free (mock.outcome);
  g_free (mock.result);
  g_free (mock.enrol);
  g_free (mock.attestation);
  g_free (mock.kind);
  return 0;
}
