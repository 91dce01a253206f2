/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A caller leaves the bus exactly where its call waits: for the bus to say who it is, for the
 * policy, its passkeys, a place or an answer of the executor, its turn with a key, the hashing or
 * copying of its files, the cards of a start, what takes the place of a refused request, what the
 * ledger says of one that was read back.  These are all the points where the broker awaits
 * something; the executor of this test holds its answer until the broker has dealt with the leaving.
 * Others are served meanwhile; no request is made for an agent that has left, and what was made or
 * said before is done as if the caller were there to hear it; and nothing of the call or the
 * connection is left.
 */
#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/fd.h"
#include "tests/broker/caller.h"
#include "tests/broker/sample.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct
{
  Bed *bed;
  Caller *agent, *other, *lead; /* who stay */
  Caller *leaver;
  char *run;  /* of the agent */
  char *path; /* (nullable): of a request that waits */
  char *name; /* of the leaver */
  guint fds;  /* open before it came */
  Pending pending;
} Scene;

/* --- what is left --- */

static guint
count_names (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  guint n = 0;

  while (dir != NULL && g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static guint
count_spooled (const Scene *scene)
{
  g_autofree char *spool = g_build_filename (scene->bed->dir, "state", "spool", NULL);

  return count_names (spool);
}

/* No call waits for an answer any more. */
static gboolean
is_over (gpointer data)
{
  const Scene *scene = data;
  const Broker *broker = scene->bed->broker;

  return bus_waiting (broker->bus).calls == 0 && g_hash_table_size (broker->calls) == 0 &&
         turns_is_empty (broker->turns) && broker->registering->len == 0;
}

static gboolean
has_closed_fds (gpointer data)
{
  const Scene *scene = data;

  return count_names ("/proc/self/fd") <= scene->fds;
}

static void
assert_pending (const Scene *scene, guint n)
{
  Broker *broker = scene->bed->broker;

  g_assert_cmpuint (limits_pending_all (broker->limits), ==, n);
  g_assert_cmpuint (g_hash_table_size (broker->requests), ==, n);
}

/* --- leaving --- */

/* Asked on the broker's own connection, so that it was told of the leaving before it has the
 * answer; it acts on it only when its main loop goes on. */
static gboolean
is_on_bus (const Scene *scene)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply = g_dbus_connection_call_sync (
      bus_connection (scene->bed->broker->bus), "org.freedesktop.DBus", "/org/freedesktop/DBus",
      "org.freedesktop.DBus", "NameHasOwner", g_variant_new ("(s)", scene->name), NULL,
      G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error);
  gboolean has_owner = FALSE;

  g_assert_no_error (error);
  g_variant_get (reply, "(b)", &has_owner);
  return has_owner;
}

static void
disconnect (Scene *scene)
{
  g_assert_true (g_dbus_connection_flush_sync (scene->leaver->connection, NULL, NULL));
  g_assert_true (g_dbus_connection_close_sync (scene->leaver->connection, NULL, NULL));
  while (is_on_bus (scene))
    g_usleep (500);
}

static gboolean
is_forgotten (gpointer data)
{
  const Scene *scene = data;

  return !identity_is_known (scene->bed->broker->identity, scene->name);
}

static void
leave (Scene *scene)
{
  g_assert_false (is_forgotten (scene));
  disconnect (scene);
  bed_wait (is_forgotten, scene);
}

/* --- the scene --- */

static void
scene_init (Scene *scene, Bed *bed, gboolean waits)
{
  scene->bed = bed;
  scene->agent = bed_caller (bed, FAKE_AGENT);
  scene->other = bed_caller (bed, FAKE_OTHER_AGENT);
  scene->lead = bed_caller (bed, FAKE_LEAD);
  scene->run = caller_open_run (scene->agent, "ticket");
  if (waits)
    scene->path = caller_submit (scene->agent, scene->run, "a@example.com", NULL);
}

static void
scene_enter (Scene *scene, uid_t uid)
{
  scene->fds = count_names ("/proc/self/fd");
  scene->leaver = bed_caller (scene->bed, uid);
  scene->name = g_strdup (g_dbus_connection_get_unique_name (scene->leaver->connection));
}

/* Whoever stays is answered. */
static void
assert_served (const Scene *scene, gboolean people)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) info = caller_agent (scene->other, "GetInfo", NULL, &error);
  g_autofree char *state = NULL;

  g_assert_no_error (error);
  if (scene->path == NULL || !people)
    return;
  state = caller_state (scene->lead, scene->path, NULL);
  g_assert_nonnull (state);
}

static gboolean
is_held (gpointer data)
{
  return fake_held (((const Scene *) data)->bed->fake) > 0;
}

typedef enum
{
  SERVES_NOBODY, /* everybody needs what is held */
  SERVES_AGENTS,
  SERVES_ALL,
} Served;

/* The caller leaves at the point that @is_there tells of; whoever stays is served, and what the
 * executor holds is held still. */
static void
leave_at (Scene *scene, gboolean (*is_there) (gpointer data), Served served)
{
  guint held = 0;

  bed_wait (is_there, scene);
  held = fake_held (scene->bed->fake);
  leave (scene);
  if (served != SERVES_NOBODY)
    assert_served (scene, served == SERVES_ALL);
  g_assert_cmpuint (fake_held (scene->bed->fake), >=, held);
}

/* What was held goes on, and ends without the caller. */
static void
go_on (Scene *scene)
{
  fake_hold_kind (scene->bed->fake, 0);
  bed_wait (is_over, scene);
}

static void
scene_end (Scene *scene)
{
  bed_wait (is_over, scene);
  pending_wait (&scene->pending);
  pending_clear (&scene->pending);
  caller_free (scene->leaver);
  assert_served (scene, TRUE);
  bed_wait (has_closed_fds, scene);
  g_assert_true (is_over (scene));
  caller_free (scene->agent);
  caller_free (scene->other);
  caller_free (scene->lead);
  g_free (scene->run);
  g_free (scene->path);
  g_free (scene->name);
}

/* --- a call that waits for one answer of the executor --- */

/* What is called; in the parameters RUN and PATH stand for those of the scene. */
typedef struct
{
  const char *interface, *member, *parameters;
} Act;

#define SUBMIT(options)                                                                            \
  { US_INTERFACE_AGENT, "Submit",                                                                  \
    "('RUN', 'mail.send', {'to': <['b@example.com']>, 'subject': <'Report'>}, " options ")" }

static const Act open_run = { US_INTERFACE_AGENT, "OpenRun", "({'label': <'x'>},)" };
static const Act open_run_for = { US_INTERFACE_AGENT, "OpenRunFor",
                                  "('offboarding', {'label': <'x'>})" };
static const Act list_actions = { US_INTERFACE_AGENT, "ListActions", "()" };
static const Act submit = SUBMIT ("@a{sv} {}");
static const Act submit_keyed = SUBMIT ("{'idempotency-key': <'k'>}");
static const Act supersede = SUBMIT ("{'supersedes': <objectpath 'PATH'>}");
static const Act watch = { US_INTERFACE_REQUEST, "Watch", "()" };
static const Act withdraw = { US_INTERFACE_REQUEST, "Withdraw", "()" };
static const Act register_cards = { US_INTERFACE_APPROVER, "Register", "(@a{sv} {},)" };
static const Act get_card = { US_INTERFACE_APPROVER, "GetCard", "(objectpath 'PATH',)" };
static const Act deny = { US_INTERFACE_APPROVER, "Deny",
                          "(objectpath 'PATH', 'other', @a{sv} {})" };
static const Act get_receipt = { US_INTERFACE_APPROVER, "GetReceipt", "(objectpath 'PATH',)" };
static const Act pause_agent = { US_INTERFACE_APPROVER, "PauseAgent",
                                 "('offboarding', uint32 600)" };
static const Act approve = { US_INTERFACE_APPROVER, "Approve", NULL };
static const Act deny_signed = { US_INTERFACE_APPROVER, "Deny", NULL };

static void
begin (Scene *scene, Caller *caller, const Act *act, Pending *pending)
{
  g_autoptr (GString) text = g_string_new (act->parameters);
  g_autoptr (GVariant) parameters = NULL;
  g_autoptr (GError) error = NULL;
  gboolean of_request = strcmp (act->interface, US_INTERFACE_REQUEST) == 0;

  g_string_replace (text, "RUN", scene->run, 0);
  if (scene->path != NULL)
    g_string_replace (text, "PATH", scene->path, 0);
  parameters = g_variant_parse (NULL, text->str, NULL, NULL, &error);
  g_assert_no_error (error);
  caller_begin (caller, of_request ? scene->path : US_OBJECT_PATH, act->interface, act->member,
                parameters, pending);
}

static void
begin_act (Scene *scene, const Act *act)
{
  g_autoptr (GError) error = NULL;
  gboolean begun = TRUE;

  if (act == &approve)
    begun = caller_begin_approve (scene->leaver, scene->path, "hr.jones", "good", &scene->pending,
                                  &error);
  else if (act == &deny_signed)
    begun = caller_begin_deny (scene->leaver, scene->path, "hr.jones", "good", &scene->pending,
                               &error);
  else
    begin (scene, scene->leaver, act, &scene->pending);
  g_assert_no_error (error);
  g_assert_true (begun);
}

static void
ends_waiting (Scene *scene)
{
  assert_pending (scene, scene->path != NULL);
}

/* It waits as before, and nothing takes its place. */
static void
ends_kept (Scene *scene)
{
  wait_again (scene->lead, scene->path);
  assert_details (scene->agent, scene->path, "pending", "no", "");
  assert_pending (scene, 1);
}

/* Nothing was made for who does not hear of it. */
static void
ends_unmade (Scene *scene)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) list = caller_agent (scene->agent, "ListRequests", NULL, &error);
  g_autoptr (GVariant) requests = NULL;

  g_assert_no_error (error);
  requests = g_variant_get_child_value (list, 0);
  g_assert_cmpuint (g_variant_n_children (requests), ==, 0);
  assert_pending (scene, 0);
  g_assert_cmpuint (count_spooled (scene), ==, 0);
}

/* Nobody is taken for one who shows cards, or hears of the request, who has left. */
static void
ends_unheard (Scene *scene)
{
  g_autoptr (GVariant) details = NULL;
  const Request *request =
      g_hash_table_lookup (scene->bed->broker->requests, request_id_of (scene->path));
  gboolean card = TRUE;

  assert_pending (scene, 1);
  g_assert_cmpuint (request->watchers->len, ==, 0);
  g_free (caller_state (scene->agent, scene->path, &details));
  g_assert_true (g_variant_lookup (details, "card", "b", &card));
  g_assert_false (card);
}

static void
ends_denied (Scene *scene)
{
  wait_state (scene->agent, scene->path, "denied");
  wait_row (scene->bed, scene->path, "closed denied hr.jones other");
  assert_pending (scene, 0);
}

static void
ends_withdrawn (Scene *scene)
{
  wait_state (scene->agent, scene->path, "withdrawn");
  assert_pending (scene, 0);
}

static void
ends_executed (Scene *scene)
{
  if (scene->path != NULL)
    wait_state (scene->agent, scene->path, "done");
  while (fake_ran (scene->bed->fake) == 0 || g_hash_table_size (scene->bed->broker->requests) > 0)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpuint (fake_ran (scene->bed->fake), ==, 1);
  assert_pending (scene, 0);
}

static void
ends_paused (Scene *scene)
{
  g_assert_true (limits_paused (scene->bed->broker->limits, FAKE_AGENT, clock_boottime (), NULL));
}

typedef struct
{
  const char *name;
  HandoverKind kind; /* what is held */
  uid_t uid;         /* who leaves */
  gboolean waits;    /* a request is there */
  gboolean fresh;    /* the broker has just begun, and knows nothing yet */
  gboolean allows;
  const Act *act;
  void (*ends) (Scene *scene);
} Point;

static const Point points[] = {
  /* name, held, who leaves, a request waits, fresh, allows */
  { "policy/open-run", HANDOVER_POLICY, FAKE_AGENT, FALSE, TRUE, FALSE, &open_run,
    ends_waiting },
  { "policy/open-run-for", HANDOVER_POLICY, FAKE_KIM, FALSE, TRUE, FALSE, &open_run_for,
    ends_waiting },
  { "policy/list-actions", HANDOVER_POLICY, FAKE_AGENT, FALSE, TRUE, FALSE, &list_actions,
    ends_waiting },
  { "policy/submit", HANDOVER_POLICY, FAKE_AGENT, FALSE, TRUE, FALSE, &submit, ends_unmade },
  { "policy/watch", HANDOVER_POLICY, FAKE_AGENT, TRUE, TRUE, FALSE, &watch, ends_unheard },
  { "policy/withdraw", HANDOVER_POLICY, FAKE_AGENT, TRUE, TRUE, FALSE, &withdraw,
    ends_withdrawn },
  { "policy/deny", HANDOVER_POLICY, FAKE_JONES, TRUE, TRUE, FALSE, &deny, ends_denied },
  { "passkeys/register", HANDOVER_APPROVER, FAKE_JONES, TRUE, TRUE, FALSE, &register_cards,
    ends_unheard },
  { "passkeys/watch", HANDOVER_APPROVER, FAKE_JONES, TRUE, TRUE, FALSE, &watch, ends_unheard },
  { "passkeys/get-card", HANDOVER_APPROVER, FAKE_JONES, TRUE, TRUE, FALSE, &get_card,
    ends_waiting },
  { "passkeys/deny", HANDOVER_APPROVER, FAKE_JONES, TRUE, TRUE, FALSE, &deny, ends_denied },
  { "prepare/submit", HANDOVER_PREPARE, FAKE_AGENT, FALSE, FALSE, FALSE, &submit,
    ends_unmade },
  { "prepare/submit-keyed", HANDOVER_PREPARE, FAKE_AGENT, FALSE, FALSE, FALSE, &submit_keyed,
    ends_unmade },
  { "query/submit-keyed", HANDOVER_QUERY, FAKE_AGENT, FALSE, FALSE, FALSE, &submit_keyed,
    ends_unmade },
  { "execute/submit", HANDOVER_EXECUTE, FAKE_AGENT, FALSE, FALSE, TRUE, &submit,
    ends_executed },
  { "answer/approve", HANDOVER_ANSWER, FAKE_JONES, TRUE, FALSE, FALSE, &approve,
    ends_executed },
  { "answer/deny", HANDOVER_ANSWER, FAKE_JONES, TRUE, FALSE, FALSE, &deny_signed, ends_denied },
  { "execute/approve", HANDOVER_EXECUTE, FAKE_JONES, TRUE, FALSE, FALSE, &approve,
    ends_executed },
  { "close/deny", HANDOVER_CLOSE, FAKE_JONES, TRUE, FALSE, FALSE, &deny, ends_denied },
  { "close/withdraw", HANDOVER_CLOSE, FAKE_AGENT, TRUE, FALSE, FALSE, &withdraw,
    ends_withdrawn },
  { "receipt/get-receipt", HANDOVER_RECEIPT, FAKE_JONES, TRUE, FALSE, FALSE, &get_receipt,
    ends_waiting },
  { "may-pause/pause-agent", HANDOVER_MAY_PAUSE, FAKE_JONES, FALSE, FALSE, FALSE, &pause_agent,
    ends_paused },
};

/* What may have been decided before the broker began: the ledger is asked first. */
static const Point doubts[] = {
  { "doubt/withdraw", HANDOVER_QUERY, FAKE_AGENT, TRUE, TRUE, FALSE, &withdraw, ends_withdrawn },
  { "doubt/deny", HANDOVER_QUERY, FAKE_JONES, TRUE, TRUE, FALSE, &deny, ends_denied },
  { "doubt/supersede", HANDOVER_QUERY, FAKE_AGENT, TRUE, TRUE, FALSE, &supersede, ends_kept },
};

/* Everybody needs the policy, every person their passkeys. */
static Served
served_beside (HandoverKind kind)
{
  if (kind == HANDOVER_POLICY)
    return SERVES_NOBODY;
  return kind == HANDOVER_APPROVER ? SERVES_AGENTS : SERVES_ALL;
}

static void
test_point (Bed *bed, gconstpointer data)
{
  const Point *point = data;
  Scene scene = { 0 };

  scene_init (&scene, bed, point->waits);
  if (point->allows)
    fake_decide (bed->fake, "allow");
  scene_enter (&scene, point->uid);
  if (point->fresh)
    {
      /* What waits is prepared anew first. */
      bed_stop (bed);
      bed_start (bed);
      while (point->waits &&
             !((Request *) g_hash_table_lookup (bed->broker->requests, request_id_of (scene.path)))
                  ->is_ready)
        g_main_context_iteration (NULL, TRUE);
    }
  fake_hold_kind (bed->fake, (int) point->kind);
  begin_act (&scene, point->act);
  leave_at (&scene, is_held, served_beside (point->kind));
  go_on (&scene);
  point->ends (&scene);
  scene_end (&scene);
}

static gboolean
is_asking (gpointer data)
{
  const Scene *scene = data;
  const Request *request =
      g_hash_table_lookup (scene->bed->broker->requests, request_id_of (scene->path));

  return request != NULL && request->asking->len > 0;
}

static void
test_doubt (Bed *bed, gconstpointer data)
{
  const Point *point = data;
  Scene scene = { 0 };

  scene_init (&scene, bed, TRUE);
  scene_enter (&scene, point->uid);
  bed_stop (bed);
  fake_hold_kind (bed->fake, (int) point->kind);
  bed_start (bed);
  begin_act (&scene, point->act);
  leave_at (&scene, is_asking, SERVES_ALL);
  go_on (&scene);
  point->ends (&scene);
  scene_end (&scene);
}

static void
point_set_up (Bed *bed, gconstpointer data)
{
  bed_set_up (bed, NULL);
}

static void
point_tear_down (Bed *bed, gconstpointer data)
{
  bed_tear_down (bed, NULL);
}

/* --- the other points --- */

/* It has left before the bus was asked who it is: nobody called. */
static void
test_identity (Bed *bed, gconstpointer config)
{
  Scene scene = { 0 };

  scene_init (&scene, bed, TRUE);
  scene_enter (&scene, FAKE_JONES);
  begin_act (&scene, &deny);
  disconnect (&scene);
  g_assert_cmpuint (bus_waiting (bed->broker->bus).calls, ==, 1);
  scene_end (&scene);
}

static gboolean
is_registering (gpointer data)
{
  return ((const Scene *) data)->bed->broker->registering->len > 0;
}

/* Who waits for the cards of a start is gone at once, though they are not there yet. */
static void
test_cards (Bed *bed, gconstpointer config)
{
  Scene scene = { 0 };

  scene_init (&scene, bed, TRUE);
  scene_enter (&scene, FAKE_JONES);
  bed_stop (bed);
  fake_hold_kind (bed->fake, HANDOVER_PREPARE);
  bed_start (bed);
  begin_act (&scene, &register_cards);
  bed_wait (is_registering, &scene);
  leave_at (&scene, is_held, SERVES_ALL);
  bed_wait (is_over, &scene);
  g_assert_true (is_held (&scene));
  fake_hold_kind (bed->fake, 0);
  wait_again (scene.lead, scene.path);
  ends_unheard (&scene);
  scene_end (&scene);
}

/* --- files --- */

#define FILE_SIZE (24 * 1024 * 1024)

static void
begin_submit_file (Scene *scene, const char *options)
{
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
  GVariantBuilder arguments;
  const char *const to[] = { "b@example.com", NULL };
  autofd fd = memfd_create ("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  g_assert_cmpint (ftruncate (fd, FILE_SIZE), ==, 0);
  g_assert_cmpint (
      fcntl (fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL), ==, 0);
  g_unix_fd_list_append (fds, fd, NULL);
  g_variant_builder_init (&arguments, G_VARIANT_TYPE_VARDICT);
  g_variant_builder_add (&arguments, "{sv}", "to", g_variant_new_strv (to, -1));
  g_variant_builder_add (&arguments, "{sv}", "subject", g_variant_new_string ("Report"));
  g_variant_builder_add (&arguments, "{sv}", "attachment",
                         g_variant_new_parsed ("[('a.txt', handle 0)]"));
  caller_begin_submit (
      scene->leaver,
      g_variant_new ("(ssa{sv}@a{sv})", scene->run, "mail.send", &arguments, vardict (options)),
      fds, &scene->pending);
}

static gboolean
has_place (gpointer data)
{
  return limits_pending_all (((const Scene *) data)->bed->broker->limits) > 0;
}

static gboolean
is_spooling (gpointer data)
{
  return count_spooled (data) > 0;
}

static void
test_file (Bed *bed, gboolean (*is_under_way) (gpointer data), const char *options)
{
  Scene scene = { 0 };

  scene_init (&scene, bed, FALSE);
  scene_enter (&scene, FAKE_AGENT);
  begin_submit_file (&scene, options);
  bed_wait (is_under_way, &scene);
  leave (&scene);
  /* There are a hundred slices of it, and the leaving was waiting for the first turn. */
  g_assert_cmpuint (fake_queried (bed->fake), ==, 0);
  g_assert_cmpuint (g_hash_table_size (bed->broker->requests), ==, 0);
  assert_served (&scene, TRUE);
  go_on (&scene);
  ends_unmade (&scene);
  scene_end (&scene);
}

static void
test_hashing (Bed *bed, gconstpointer config)
{
  test_file (bed, has_place, "{'idempotency-key': <'k'>}");
}

static void
test_copying (Bed *bed, gconstpointer config)
{
  test_file (bed, is_spooling, "{}");
}

/* --- its turn --- */

static gboolean
has_turn (gpointer data)
{
  return turns_waiting (((const Scene *) data)->bed->broker->turns) == 1;
}

/* Of two calls with one key the one whose turn it is leaves, or the one that waits for its turn:
 * the other makes the request, or has made it. */
static void
test_turn (Bed *bed, gboolean first_leaves)
{
  Scene scene = { 0 };
  g_auto (Pending) stays = { 0 };
  const char *path = NULL;

  scene_init (&scene, bed, FALSE);
  scene_enter (&scene, FAKE_AGENT);
  fake_hold_kind (bed->fake, HANDOVER_PREPARE);
  for (guint i = 0; i < 2; i++)
    {
      if ((i == 0) == first_leaves)
        begin_act (&scene, &submit_keyed);
      else
        begin (&scene, scene.agent, &submit_keyed, &stays);
      if (i == 0)
        bed_wait (is_held, &scene);
    }
  leave_at (&scene, has_turn, SERVES_ALL);
  fake_hold_kind (bed->fake, 0);
  pending_wait (&stays);
  g_assert_no_error (stays.error);
  g_variant_get (stays.reply, "(&o&s)", &path, NULL);
  wait_state (scene.agent, path, "pending");
  assert_pending (&scene, 1);
  scene_end (&scene);
}

static void
test_turn_first (Bed *bed, gconstpointer config)
{
  test_turn (bed, TRUE);
}

static void
test_turn_second (Bed *bed, gconstpointer config)
{
  test_turn (bed, FALSE);
}

static gboolean
holds_all_places (gpointer data)
{
  return fake_held (((const Scene *) data)->bed->fake) >= EXECUTOR_PREPARES_EACH;
}

static gboolean
holds_one_more (gpointer data)
{
  return fake_held (((const Scene *) data)->bed->fake) > EXECUTOR_PREPARES_EACH;
}

/* Calls that wait for a place of the executor, and for its answer: another agent has its place. */
static void
test_places (Bed *bed, gconstpointer config)
{
  Scene scene = { 0 };
  Pending pending[EXECUTOR_PREPARES_EACH + 2] = { 0 };
  g_auto (Pending) others = { 0 };
  g_autofree char *others_run = NULL;

  scene_init (&scene, bed, FALSE);
  others_run = caller_open_run (scene.other, "ticket");
  scene_enter (&scene, FAKE_AGENT);
  fake_hold_kind (bed->fake, HANDOVER_PREPARE);
  for (guint i = 0; i < G_N_ELEMENTS (pending); i++)
    {
      g_autofree char *to = g_strdup_printf ("b%u@example.com", i);

      caller_begin (scene.leaver, US_OBJECT_PATH, US_INTERFACE_AGENT, "Submit",
                    mail_parameters (scene.run, to, NULL), &pending[i]);
    }
  leave_at (&scene, holds_all_places, SERVES_ALL);
  caller_begin (scene.other, US_OBJECT_PATH, US_INTERFACE_AGENT, "Submit",
                mail_parameters (others_run, "b@example.com", NULL), &others);
  bed_wait (holds_one_more, &scene);
  go_on (&scene);
  pending_wait (&others);
  g_assert_no_error (others.error);
  assert_pending (&scene, 1);
  for (guint i = 0; i < G_N_ELEMENTS (pending); i++)
    {
      pending_wait (&pending[i]);
      pending_clear (&pending[i]);
    }
  scene.pending.done = TRUE;
  scene_end (&scene);
}

static gboolean
waits_for_successor (gpointer data)
{
  const Scene *scene = data;
  const Request *request =
      g_hash_table_lookup (scene->bed->broker->requests, request_id_of (scene->path));

  return request != NULL && request->waiting->len > 0;
}

/* A call with the key of a refused request, until it is known what takes its place. */
static void
test_successor (Bed *bed, gconstpointer config)
{
  Scene scene = { 0 };
  g_autoptr (Caller) jones = bed_caller (bed, FAKE_JONES);
  g_autofree char *successor = NULL;
  g_autoptr (GError) error = NULL;

  scene_init (&scene, bed, FALSE);
  scene.path =
      caller_submit (scene.agent, scene.run, "b@example.com", "{'idempotency-key': <'k'>}");
  scene_enter (&scene, FAKE_AGENT);
  fake_execute (bed->fake, "refuse");
  fake_hold_kind (bed->fake, HANDOVER_PREPARE);
  g_assert_false (caller_approve (jones, scene.path, "hr.jones", "good", NULL, &error));
  bed_wait (is_held, &scene);
  begin_act (&scene, &submit_keyed);
  leave_at (&scene, waits_for_successor, SERVES_ALL);
  fake_hold_kind (bed->fake, 0);
  successor = wait_successor (scene.agent, scene.path);
  wait_state (scene.agent, successor, "pending");
  assert_pending (&scene, 1);
  scene_end (&scene);
}

static void
add_points (const Point *all, guint n, void (*test) (Bed *bed, gconstpointer data))
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = g_strconcat ("/leave/", all[i].name, NULL);

      g_test_add (path, Bed, &all[i], point_set_up, test, point_tear_down);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  sample_quiet ();
  bed_test ("/leave/identity", NULL, test_identity);
  add_points (points, G_N_ELEMENTS (points), test_point);
  add_points (doubts, G_N_ELEMENTS (doubts), test_doubt);
  bed_test ("/leave/cards", NULL, test_cards);
  bed_test ("/leave/hashing", NULL, test_hashing);
  bed_test ("/leave/copying", NULL, test_copying);
  bed_test ("/leave/turn/first", NULL, test_turn_first);
  bed_test ("/leave/turn/second", NULL, test_turn_second);
  bed_test ("/leave/places", NULL, test_places);
  bed_test ("/leave/successor", NULL, test_successor);
  return g_test_run ();
}
