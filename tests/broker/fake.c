/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/broker/fake.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/fd.h"
#include "service/base/handover.h"
#include "service/base/memfd.h"
#include "service/base/wire.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

typedef struct
{
  char *state, *why, *by, *reason, *result;
} Row;

typedef struct
{
  const char *name;
  uid_t uid;
  gboolean active;
} Person;

struct Fake
{
  char *path;
  int listen_fd;
  GThread *thread;
  GMutex lock;
  GCond changed;

  /* under the lock */
  gboolean ending, away, holds, released;
  Set *set;
  Policy *policy;
  int image, lease;
  gboolean leases;
  char *fault;
  const char *decision, *how, *refusal;
  int refusal_code;
  guint lifetime, count;
  Person people[3];
  GHashTable *ledger;  /* id → Row */
  GHashTable *answers; /* id → GHashTable of credentials, as text */
  guint prepared, answered, ran, asked, queried, connections;
  int held_kind;
  guint held;
};

typedef struct
{
  Fake *fake;
  int sock;
} Connection;

static void
row_free (gpointer data)
{
  Row *row = data;

  g_free (row->state);
  g_free (row->why);
  g_free (row->by);
  g_free (row->reason);
  g_free (row->result);
  g_free (row);
}

static void
ledger_put (Fake *fake, const char *id, const char *state, const char *why, const char *by,
            const char *reason)
{
  Row *row = g_new0 (Row, 1);

  row->state = g_strdup (state);
  row->why = g_strdup (why);
  row->by = g_strdup (by);
  row->reason = g_strdup (reason);
  row->result = g_strdup (strcmp (state, "closed") == 0 ? "" : "as it was done");
  g_hash_table_insert (fake->ledger, g_strdup (id), row);
}

static gboolean
ledger_check_free (Fake *fake, const char *id, GError **error)
{
  const Row *row = g_hash_table_lookup (fake->ledger, id);

  if (row == NULL)
    return TRUE;
  if (strcmp (row->state, "closed") == 0)
    return us_error_set (error, US_ERROR_WRONG_STATE, US_REASON_CLOSED, "it is closed");
  return us_error_set (error, US_ERROR_WRONG_STATE, US_REASON_ALREADY_CONSUMED, "it is consumed");
}

/* --- records --- */

static gboolean
hash_files (const Handover *call, TypeFile *files, GError **error)
{
  for (guint i = 0; i < call->n_fds; i++)
    {
      gsize size = 0;

      if (!memfd_sha256 (call->fds[i], HANDOVER_FILE_MAX, &size, files[i].sha256, error))
        return FALSE;
      files[i].size = size;
    }
  return TRUE;
}

static Record *
make_record (Fake *fake, GVariant *raw, const Handover *call, GError **error)
{
  g_autoptr (RecordBuilder) builder = NULL;
  g_autoptr (GVariant) arguments = g_variant_get_child_value (raw, 5);
  g_autoptr (GPtrArray) values = NULL;
  TypeFile files[HANDOVER_MAX_FILES] = { 0 };
  const PolicyAgent *agent = NULL;
  const PolicyAction *action = NULL;
  g_autofree char *digest = NULL;
  const char *part = NULL, *run = NULL, *label = NULL, *name = NULL, *uid = NULL, *id = NULL;
  const char *claim = NULL;
  guint32 agent_uid = 0;

  g_variant_get (raw, "(&su&s(&s&s&s&s)&s@a(sv)&s(&s&s))", NULL, &agent_uid, &part, &run, &label,
                 &name, &uid, &id, NULL, &claim, NULL, NULL);
  agent = policy_agent_by_uid (fake->policy, agent_uid);
  if (agent == NULL)
    us_error_set (error, US_ERROR_NOT_AGENT, US_REASON_NOT_AGENT, "it is none");
  else
    action = policy_action_for (fake->policy, agent, id, error);
  if (action == NULL || !hash_files (call, files, error))
    return NULL;
  values = policy_bind_arguments (action, arguments, files, call->n_fds, error);
  if (values == NULL)
    return NULL;

  digest = policy_digest (fake->policy, agent, action);
  builder = policy_record_begin ("00000000000000000000000000000000", agent, part, action, values);
  record_builder_run (builder, run, label, name[0] != '\0' ? name : NULL,
                      (guint32) g_ascii_strtoull (uid, NULL, 10));
  record_builder_claim (builder, claim);
  record_builder_policy (builder, digest);
  return record_builder_end (builder, error);
}

/* --- people --- */

static GVariant *
credentials_of (const Person *person)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a" WIRE_CREDENTIAL));
  if (person->active)
    g_variant_builder_add (&builder, "(@ayssss)",
                           g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, person->name,
                                                      strlen (person->name), 1),
                           "phone", "approve.example", "https://approve.example", "phone");
  return g_variant_builder_end (&builder);
}

static GVariant *
make_requirements (const Fake *fake)
{
  GVariantBuilder people;
  GVariantBuilder all;

  g_variant_builder_init (&all, G_VARIANT_TYPE ("a" WIRE_REQUIREMENT));
  if (strcmp (fake->decision, "ask") != 0)
    return g_variant_builder_end (&all);
  /* JONES and LEAD may approve; ALICE has a passkey, but nothing to say here. */
  g_variant_builder_init (&people, G_VARIANT_TYPE ("a" WIRE_APPROVER));
  for (guint i = 0; i < 2; i++)
    if (fake->people[i].active)
      g_variant_builder_add (&people, "(su@a" WIRE_CREDENTIAL ")", fake->people[i].name,
                             (guint32) fake->people[i].uid, credentials_of (&fake->people[i]));
  g_variant_builder_add (&all, "(sua" WIRE_APPROVER ")", "x.rule:mail", fake->count, &people);
  return g_variant_builder_end (&all);
}

/* --- the kinds --- */

static GVariant *
bytes_variant (GBytes *bytes)
{
  return g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, bytes, TRUE);
}

static GVariant *
do_prepare (Fake *fake, const Handover *call, GError **error)
{
  static const guint8 seal[32] = { 9 };
  g_autoptr (Record) record = NULL;
  g_autofree char *expires = NULL;
  const char *id = NULL;

  fake->prepared++;
  while (fake->holds && !fake->ending)
    g_cond_wait (&fake->changed, &fake->lock);
  g_variant_get_child (call->body, 0, "&s", &id);
  if (fake->refusal != NULL)
    {
      us_error_set (error, (UsError) fake->refusal_code, fake->refusal, "as the test wants it");
      return NULL;
    }
  if (!ledger_check_free (fake, id, error))
    return NULL;
  record = make_record (fake, call->body, call, error);
  if (record == NULL)
    return NULL;

  expires = clock_format (clock_wall () + MAX (fake->lifetime / 1000, 1));
  return g_variant_new ("(s@" WIRE_FACTS "@ayt@ays@a" WIRE_REQUIREMENT ")", fake->decision,
                        g_variant_new_array (G_VARIANT_TYPE ("(ss)"), NULL, 0),
                        bytes_variant (record_bytes (record)),
                        clock_boottime () + fake->lifetime * (guint64) 1000,
                        g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, seal, 32, 1), expires,
                        make_requirements (fake));
}

static GVariant *
do_answer (Fake *fake, const Handover *call, GError **error)
{
  g_autoptr (GVariant) credential = g_variant_get_child_value (call->body, 3);
  g_autoptr (GVariant) signature = g_variant_get_child_value (call->body, 9);
  g_autofree char *name = g_strndup (g_variant_get_data (credential),
                                     g_variant_get_size (credential));
  g_autoptr (GVariant) prepared = g_variant_get_child_value (call->body, 0);
  g_autoptr (GVariant) raw = g_variant_get_child_value (prepared, 0);
  const char *id = NULL, *decision = NULL, *reason = NULL;
  GHashTable *answers = NULL;

  fake->answered++;
  g_variant_get_child (raw, 0, "&s", &id);
  g_variant_get_child (call->body, 1, "&s", &decision);
  g_variant_get_child (call->body, 10, "&s", &reason);
  if (!ledger_check_free (fake, id, error))
    return NULL;
  if (g_variant_get_size (signature) == 4 &&
      memcmp (g_variant_get_data (signature), "late", 4) == 0)
    {
      us_error_set (error, US_ERROR_REFUSED, US_REASON_RECORD_CHANGED, "the policy was edited");
      return NULL;
    }
  if (g_variant_get_size (signature) == 4 &&
      memcmp (g_variant_get_data (signature), "void", 4) == 0)
    {
      us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_SEAL, "the key was renewed");
      return NULL;
    }
  if (g_variant_get_size (signature) != 4 ||
      memcmp (g_variant_get_data (signature), "good", 4) != 0)
    {
      us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_SIGNATURE, "it is not good");
      return NULL;
    }
  if (strcmp (decision, "deny") == 0)
    {
      ledger_put (fake, id, "closed", "denied", name, reason);
      return g_variant_new (WIRE_ANSWER_REPLY, "denied", 0, 0);
    }

  answers = g_hash_table_lookup (fake->answers, id);
  if (answers == NULL)
    {
      answers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
      g_hash_table_insert (fake->answers, g_strdup (id), answers);
    }
  g_hash_table_add (answers, g_steal_pointer (&name));
  return g_variant_new (WIRE_ANSWER_REPLY,
                        g_hash_table_size (answers) >= fake->count ? "approved" : "pending",
                        g_hash_table_size (answers), fake->count);
}

static GVariant *
do_close (Fake *fake, const Handover *call, GError **error)
{
  const char *id = NULL, *why = NULL, *by = NULL, *reason = NULL;

  g_variant_get (call->body, "(&s@ay&s&s&s)", &id, NULL, &why, &by, &reason);
  if (!ledger_check_free (fake, id, error))
    return NULL;
  ledger_put (fake, id, "closed", why, by, reason);
  return g_variant_new (WIRE_EMPTY);
}

static GVariant *
do_query (Fake *fake, const Handover *call, GError **error)
{
  const Row *row = NULL;
  const char *id = NULL;

  fake->queried++;
  g_variant_get (call->body, "(&s)", &id);
  row = g_hash_table_lookup (fake->ledger, id);
  if (row == NULL)
    return g_variant_new (WIRE_QUERY_REPLY, "none", "", "", "", "");
  return g_variant_new (WIRE_QUERY_REPLY, row->state, row->why, row->by, row->reason, row->result);
}

static GVariant *
do_approver (Fake *fake, const Handover *call, GError **error)
{
  guint32 uid = 0;

  fake->asked++;
  g_variant_get (call->body, "(u)", &uid);
  for (guint i = 0; i < G_N_ELEMENTS (fake->people); i++)
    if (fake->people[i].uid == uid)
      return g_variant_new ("(@a" WIRE_CREDENTIAL ")", credentials_of (&fake->people[i]));
  return g_variant_new ("(@a" WIRE_CREDENTIAL ")",
                        g_variant_new_array (G_VARIANT_TYPE (WIRE_CREDENTIAL), NULL, 0));
}

static GVariant *
do_may_pause (Fake *fake, const Handover *call, GError **error)
{
  const char *name = NULL;
  const PolicyAgent *agent = NULL;
  guint32 uid = 0;
  gboolean may = FALSE;

  g_variant_get (call->body, "(u&s)", &uid, &name);
  agent = policy_agent_by_name (fake->policy, name);
  for (guint i = 0; agent != NULL && i < G_N_ELEMENTS (fake->people); i++)
    if (fake->people[i].uid == uid)
      may = policy_may_pause (fake->policy, agent, fake->people[i].name, uid);
  return g_variant_new (WIRE_MAY_PAUSE_REPLY, may);
}

/* Answers by itself, since a hold outlasts the lock and an outcome is a second message. */
static void
do_execute (Fake *fake, int sock, const Handover *call)
{
  g_autoptr (GVariant) prepared = g_variant_get_child_value (call->body, 0);
  g_autoptr (GVariant) raw = g_variant_get_child_value (prepared, 0);
  g_autoptr (GError) error = NULL;
  const char *id = NULL;
  const char *how = fake->how;
  const char *outcome = "done";

  g_variant_get_child (raw, 0, "&s", &id);
  if (strcmp (how, "silent") == 0)
    return;
  if (strcmp (how, "denied") == 0)
    ledger_put (fake, id, "closed", "denied", "", "");
  if (strcmp (how, "refuse") == 0)
    us_error_set (&error, US_ERROR_REFUSED, US_REASON_FACT_CHANGED, "fact known changed");
  if (error != NULL || !ledger_check_free (fake, id, &error))
    {
      handover_send_error (sock, error, NULL);
      return;
    }

  ledger_put (fake, id, "executing", "", "", "");
  fake->ran++;
  if (strcmp (how, "lost") == 0)
    {
      ledger_put (fake, id, "done", "", "", "");
      return;
    }
  handover_send (sock, HANDOVER_REPLY, g_variant_new ("(s)", "consumed"), NULL, 0, NULL);
  if (strcmp (how, "cut") == 0 || strcmp (how, "dies") == 0)
    {
      ledger_put (fake, id, how[0] == 'c' ? "done" : "unknown", "", "", "");
      return;
    }
  while (strcmp (how, "hold") == 0 && !fake->released && !fake->ending)
    g_cond_wait (&fake->changed, &fake->lock);
  if (strcmp (how, "failed") == 0 || strcmp (how, "unknown") == 0 || strcmp (how, "garbage") == 0)
    outcome = how;
  ledger_put (fake, id, outcome[0] == 'g' ? "unknown" : outcome, "", "", "");
  handover_send (sock, HANDOVER_REPLY, g_variant_new ("(ss)", outcome, "as it was done"), NULL, 0,
                 NULL);
}

/* A receipt that says no more than what it was asked with. */
static GVariant *
do_receipt (Fake *fake, const Handover *call, GError **error)
{
  g_autoptr (GVariant) record = NULL;
  g_autofree char *text = NULL;
  const char *id = NULL;

  g_variant_get (call->body, "(&s@ay)", &id, &record);
  text = g_strdup_printf ("%s %" G_GSIZE_FORMAT, id, g_variant_get_size (record));
  return g_variant_new ("(@ay)", g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, text,
                                                            strlen (text), 1));
}

static void
do_policy (Fake *fake, int sock)
{
  handover_send (sock, HANDOVER_REPLY, g_variant_new ("(s)", fake->fault != NULL ? fake->fault : ""),
                 &fake->image, fake->fault != NULL ? 0 : 1, NULL);
}

static const struct
{
  HandoverKind kind;
  const char *type;
  GVariant *(*handle) (Fake *fake, const Handover *call, GError **error);
} kinds[] = {
  { HANDOVER_PREPARE, WIRE_PREPARE, do_prepare }, { HANDOVER_ANSWER, WIRE_ANSWER, do_answer },
  { HANDOVER_CLOSE, WIRE_CLOSE, do_close },       { HANDOVER_QUERY, WIRE_QUERY, do_query },
  { HANDOVER_APPROVER, WIRE_APPROVER_QUERY, do_approver },
  { HANDOVER_MAY_PAUSE, WIRE_MAY_PAUSE, do_may_pause },
  { HANDOVER_RECEIPT, WIRE_RECEIPT, do_receipt },
  { HANDOVER_EXECUTE, WIRE_EXECUTE, NULL },       { HANDOVER_POLICY, WIRE_EMPTY, NULL },
};

static void
hold (Fake *fake, int kind)
{
  if (fake->held_kind != kind)
    return;
  fake->held++;
  while (fake->held_kind == kind && !fake->ending)
    g_cond_wait (&fake->changed, &fake->lock);
  fake->held--;
}

static void
serve (Fake *fake, int sock)
{
  g_auto (Handover) call = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply = NULL;
  autofd body = -1;
  guint i = 0;

  if (!handover_receive (sock, &call, &body, NULL))
    return;
  while (i < G_N_ELEMENTS (kinds) && kinds[i].kind != call.kind)
    i++;
  g_assert_cmpuint (i, <, G_N_ELEMENTS (kinds));
  handover_decode (&call, body, kinds[i].type, &error);
  g_assert_no_error (error);

  g_mutex_lock (&fake->lock);
  hold (fake, (int) call.kind);
  if (fake->away)
    ;
  else if (call.kind == HANDOVER_EXECUTE)
    do_execute (fake, sock, &call);
  else if (call.kind == HANDOVER_POLICY)
    do_policy (fake, sock);
  else
    {
      reply = kinds[i].handle (fake, &call, &error);
      if (reply != NULL)
        {
          g_variant_ref_sink (reply);
          handover_send (sock, HANDOVER_REPLY, reply, NULL, 0, NULL);
        }
      else
        handover_send_error (sock, error, NULL);
    }
  g_mutex_unlock (&fake->lock);
}

static gpointer
connection_thread (gpointer data)
{
  Connection *connection = data;
  Fake *fake = connection->fake;

  serve (fake, connection->sock);
  fd_clear (&connection->sock);
  g_free (connection);
  g_mutex_lock (&fake->lock);
  fake->connections--;
  g_cond_broadcast (&fake->changed);
  g_mutex_unlock (&fake->lock);
  return NULL;
}

static gpointer
listen_thread (gpointer data)
{
  Fake *fake = data;

  for (;;)
    {
      int sock = accept4 (fake->listen_fd, NULL, NULL, SOCK_CLOEXEC);
      Connection *connection = NULL;

      if (sock < 0)
        return NULL;
      connection = g_new0 (Connection, 1);
      connection->fake = fake;
      connection->sock = sock;
      g_mutex_lock (&fake->lock);
      fake->connections++;
      g_mutex_unlock (&fake->lock);
      g_thread_unref (g_thread_new ("fake", connection_thread, connection));
    }
}

/* --- the handle --- */

static void
take_lease (Fake *fake)
{
  g_autoptr (GError) error = NULL;

  fd_clear (&fake->lease);
  if (fake->leases)
    fake->lease = memfd_lease (fake->image, &error);
  g_assert_no_error (error);
}

static void
load_policy (Fake *fake)
{
  g_autoptr (GBytes) image = set_image (fake->set);
  g_autoptr (GError) error = NULL;
  gsize size = 0;
  const void *data = g_bytes_get_data (image, &size);

  g_clear_pointer (&fake->policy, policy_free);
  fd_clear (&fake->lease);
  fd_clear (&fake->image);
  fake->policy = set_parse (fake->set);
  fake->image = memfd_new_sealed ("policy", data, size, &error);
  g_assert_no_error (error);
  take_lease (fake);
}

Fake *
fake_new (const char *path)
{
  Fake *fake = g_new0 (Fake, 1);
  struct sockaddr_un address = { .sun_family = AF_UNIX };

  fake->path = g_strdup (path);
  g_mutex_init (&fake->lock);
  g_cond_init (&fake->changed);
  fake->image = fake->lease = -1;
  fake->set = set_new ();
  set_put (fake->set, "rules/x.rule",
           "[Rule mail]\nAgents=offboarding other\nActions=mail.send\nDecision=ask\n"
           "Approvers=hr.jones it.lead\nSeparation=agent\nPasskeys=phone\n"
           "[Rule note]\nAgents=offboarding\nActions=note.write\nDecision=allow\n"
           "Limit=1000/1d all-agents\n");
  load_policy (fake);
  fake->decision = "ask";
  fake->how = "done";
  fake->lifetime = 60000;
  fake->count = 1;
  fake->people[0] = (Person) { "hr.jones", FAKE_JONES, TRUE };
  fake->people[1] = (Person) { "it.lead", FAKE_LEAD, TRUE };
  fake->people[2] = (Person) { "alice", FAKE_ALICE, TRUE };
  fake->ledger = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, row_free);
  fake->answers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                         (GDestroyNotify) g_hash_table_unref);

  strcpy (address.sun_path, path);
  fake->listen_fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  g_assert_cmpint (bind (fake->listen_fd, (struct sockaddr *) &address, sizeof address), ==, 0);
  g_assert_cmpint (listen (fake->listen_fd, 16), ==, 0);
  fake->thread = g_thread_new ("fake-listen", listen_thread, fake);
  return fake;
}

void
fake_free (Fake *fake)
{
  g_mutex_lock (&fake->lock);
  fake->ending = TRUE;
  g_cond_broadcast (&fake->changed);
  g_mutex_unlock (&fake->lock);
  shutdown (fake->listen_fd, SHUT_RDWR);
  g_thread_join (fake->thread);
  g_mutex_lock (&fake->lock);
  while (fake->connections > 0)
    g_cond_wait (&fake->changed, &fake->lock);
  g_mutex_unlock (&fake->lock);

  fd_clear (&fake->listen_fd);
  fd_clear (&fake->lease);
  fd_clear (&fake->image);
  policy_free (fake->policy);
  set_free (fake->set);
  g_hash_table_unref (fake->ledger);
  g_hash_table_unref (fake->answers);
  g_mutex_clear (&fake->lock);
  g_cond_clear (&fake->changed);
  unlink (fake->path);
  g_free (fake->fault);
  g_free (fake->path);
  g_free (fake);
}

#define CHANGE(statement)                                                                          \
  g_mutex_lock (&fake->lock);                                                                      \
  statement;                                                                                       \
  g_mutex_unlock (&fake->lock)

static guint
read_count (Fake *fake, const guint *count)
{
  guint value = 0;

  CHANGE (value = *count);
  return value;
}

void
fake_decide (Fake *fake, const char *decision)
{
  CHANGE (fake->decision = decision);
}

void
fake_refuse (Fake *fake, int code, const char *reason)
{
  CHANGE (fake->refusal_code = code; fake->refusal = reason);
}

void
fake_hold (Fake *fake)
{
  CHANGE (fake->holds = TRUE);
}

void
fake_hold_kind (Fake *fake, int kind)
{
  CHANGE (fake->held_kind = kind; g_cond_broadcast (&fake->changed));
}

guint
fake_held (Fake *fake)
{
  return read_count (fake, &fake->held);
}

void
fake_away (Fake *fake, gboolean away)
{
  CHANGE (fake->away = away);
}

void
fake_fault (Fake *fake, const char *fault)
{
  CHANGE (g_free (fake->fault); fake->fault = g_strdup (fault));
}

void
fake_policy (Fake *fake, const char *name, const char *text)
{
  CHANGE (set_put (fake->set, name, text); load_policy (fake));
}

void
fake_lease (Fake *fake, gboolean leased)
{
  CHANGE (fake->leases = leased; take_lease (fake));
}

void
fake_lifetime (Fake *fake, guint milliseconds)
{
  CHANGE (fake->lifetime = milliseconds);
}

void
fake_need (Fake *fake, guint count)
{
  CHANGE (fake->count = count);
}

void
fake_passkey (Fake *fake, uid_t uid, gboolean active)
{
  g_mutex_lock (&fake->lock);
  for (guint i = 0; i < G_N_ELEMENTS (fake->people); i++)
    if (fake->people[i].uid == uid)
      fake->people[i].active = active;
  g_mutex_unlock (&fake->lock);
}

void
fake_execute (Fake *fake, const char *how)
{
  CHANGE (fake->how = how);
}

void
fake_release (Fake *fake)
{
  CHANGE (fake->holds = FALSE; fake->released = TRUE; g_cond_broadcast (&fake->changed));
}

void
fake_put (Fake *fake, const char *id, const char *state, const char *why)
{
  CHANGE (ledger_put (fake, id, state, why, "", ""));
}

void
fake_resolve (Fake *fake, const char *id, const char *outcome)
{
  CHANGE (ledger_put (fake, id, outcome, "", WIRE_QUERY_RESOLVED, ""));
}

char *
fake_row (Fake *fake, const char *id)
{
  const Row *row = NULL;
  char *text = NULL;

  g_mutex_lock (&fake->lock);
  row = g_hash_table_lookup (fake->ledger, id);
  if (row == NULL)
    text = g_strdup ("none");
  else if (strcmp (row->state, "closed") == 0)
    text = g_strdup_printf ("closed %s %s %s", row->why, row->by, row->reason);
  else
    text = g_strdup (row->state);
  g_mutex_unlock (&fake->lock);
  return text;
}

guint
fake_prepared (Fake *fake)
{
  return read_count (fake, &fake->prepared);
}

guint
fake_answered (Fake *fake)
{
  return read_count (fake, &fake->answered);
}

guint
fake_ran (Fake *fake)
{
  return read_count (fake, &fake->ran);
}

guint
fake_asked (Fake *fake)
{
  return read_count (fake, &fake->asked);
}

guint
fake_queried (Fake *fake)
{
  return read_count (fake, &fake->queried);
}
