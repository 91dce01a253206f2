/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See hostile.h. */
#include "tests/executor/hostile.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/encode.h"
#include "service/base/fd.h"
#include "service/base/pae.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PARALLEL 50
#define SHOWN "the file that was shown"
#define NOT_SHOWN "the file that was not!!"

const char *const hostile_rules = "[Rule act]\n"
                                  "Agents=offboarding other\n"
                                  "Actions=hostile.act\n"
                                  "When=target none short\n"
                                  "Decision=ask\n"
                                  "Approvers=it.lead\n"
                                  "Passkeys=software\n"
                                  "[Rule act-short]\n"
                                  "Agents=offboarding\n"
                                  "Actions=hostile.act\n"
                                  "When=target is short\n"
                                  "Decision=ask\n"
                                  "Approvers=it.lead\n"
                                  "Passkeys=software\n"
                                  "Lifetime=1s\n";

char *
hostile_action (const char *marker)
{
  return g_strconcat ("[Action]\n"
                      "Summary=Act\n"
                      "Effect=irreversible\n"
                      "[Executor]\n"
                      "Module=null\n"
                      "Marker=",
                      marker,
                      "\n"
                      "Fact=known=yes\n"
                      "[Argument target]\n"
                      "Label=Target\n"
                      "Type=line\n"
                      "Required=yes\n"
                      "[Argument paper]\n"
                      "Label=Papers\n"
                      "Type=file-list\n"
                      "[Fact known]\n"
                      "Label=Known\n"
                      "Type=line\n",
                      NULL);
}

/* A request that was prepared: with a run that somebody opened for the agent, a claim and a file.
 */
typedef struct
{
  Request *request;
  Prepare prepare;
} Case;

static void
case_clear (Case *c)
{
  g_clear_pointer (&c->request, request_free);
  prepare_clear (&c->prepare);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Case, case_clear)

static void
case_target (Case *c, const char *target)
{
  g_autofree char *arguments =
      g_strdup_printf ("[('target', <'%s'>), ('paper', <[('a.txt', handle 0)]>)]", target);

  request_arguments (c->request, arguments);
}

static void
case_initiator (Case *c, const char *name, guint32 uid)
{
  g_autofree char *text = g_strdup_printf ("%u", uid);

  request_set (&c->request->initiator, name);
  request_set (&c->request->initiator_uid, *name != '\0' ? text : "");
}

static void
case_prepare (const Hostile *hostile, Case *c)
{
  g_autoptr (GError) error = NULL;

  prepare_clear (&c->prepare);
  assert_good (client_prepare (hostile->client, c->request, &c->prepare, &error), &error);
}

/* case_new: for a target of its own, so that no case is a repeat of another's intent. */
static void
case_new (const Hostile *hostile, Case *c)
{
  g_autofree char *target = random_id ();

  c->request = request_new (hostile->client, HOSTILE_ACTION);
  request_set (&c->request->claim, "it is urgent");
  case_initiator (c, "hr.jones", hostile->owner_uid);
  request_file (c->request, SHOWN);
  case_target (c, target);
}

static void
case_approve (const Hostile *hostile, Case *c)
{
  g_autoptr (GError) error = NULL;

  assert_good (client_approve (hostile->client, hostile->lead, c->request, &c->prepare, &error),
               &error);
}

static void
case_approved (const Hostile *hostile, Case *c)
{
  case_new (hostile, c);
  case_prepare (hostile, c);
  case_approve (hostile, c);
}

static void
executes (const Hostile *hostile, Case *c)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *outcome = NULL;
  guint before = hostile->executed (hostile->data);

  assert_good (client_execute (hostile->client, c->request, &c->prepare, &outcome, &error), &error);
  g_assert_cmpstr (outcome, ==, "done");
  g_assert_cmpuint (hostile->executed (hostile->data), ==, before + 1);
}

static void
refused (const Hostile *hostile, Case *c, const char *reason)
{
  g_autoptr (GError) error = NULL;
  guint before = hostile->executed (hostile->data);

  assert_refused (client_execute (hostile->client, c->request, &c->prepare, NULL, &error), &error,
                  reason);
  g_assert_cmpuint (hostile->executed (hostile->data), ==, before);
}

/* --- a request that is another's --- */

static void
false_uid (const Hostile *hostile)
{
  g_auto (Case) c = { 0 };
  guint32 own = 0;

  case_new (hostile, &c);
  case_initiator (&c, "", 0);
  case_prepare (hostile, &c);
  case_approve (hostile, &c);
  own = c.request->uid;
  c.request->uid = hostile->other_uid;
  refused (hostile, &c, US_REASON_RECORD_CHANGED);
  c.request->uid = hostile->owner_uid;
  refused (hostile, &c, US_REASON_NOT_AGENT);
  c.request->uid = own;
  executes (hostile, &c);
}

static void
false_part (const Hostile *hostile)
{
  g_auto (Case) c = { 0 };

  case_approved (hostile, &c);
  request_set (&c.request->part, "licences");
  refused (hostile, &c, US_REASON_RECORD_CHANGED);
  request_set (&c.request->part, "no-such-part");
  refused (hostile, &c, US_REASON_UNKNOWN_PART);
  request_set (&c.request->part, "main");
  executes (hostile, &c);
}

static void
false_run (const Hostile *hostile)
{
  g_auto (Case) c = { 0 };
  g_autofree char *own = NULL;
  g_autofree char *other = random_id ();

  case_approved (hostile, &c);
  own = g_strdup (c.request->run);
  request_set (&c.request->run, other);
  refused (hostile, &c, US_REASON_RECORD_CHANGED);
  request_set (&c.request->run, own);
  request_set (&c.request->label, "ticket-4712");
  refused (hostile, &c, US_REASON_RECORD_CHANGED);
}

static void
false_initiator (const Hostile *hostile)
{
  g_auto (Case) c = { 0 };

  case_approved (hostile, &c);
  case_initiator (&c, "hr.kim", hostile->initiator_uid);
  refused (hostile, &c, US_REASON_RECORD_CHANGED);
  case_initiator (&c, "", 0);
  refused (hostile, &c, US_REASON_RECORD_CHANGED);
  case_initiator (&c, "it.lead", (guint32) hostile->lead->passkey->uid);
  refused (hostile, &c, US_REASON_NOT_ELIGIBLE);
}

static void
false_claim (const Hostile *hostile)
{
  g_auto (Case) c = { 0 };

  case_approved (hostile, &c);
  request_set (&c.request->claim, "");
  refused (hostile, &c, US_REASON_RECORD_CHANGED);
}

static void
false_argument (const Hostile *hostile)
{
  g_auto (Case) c = { 0 };

  case_approved (hostile, &c);
  case_target (&c, "somebody else");
  refused (hostile, &c, US_REASON_RECORD_CHANGED);
  request_arguments (c.request, "[('target', <'x'>), ('paper', <[('a.txt', handle 0)]>), "
                                "('target', <'y'>)]");
  refused (hostile, &c, US_REASON_DUPLICATE_ARGUMENT);
}

static void
false_facts (const Hostile *hostile)
{
  g_auto (Case) c = { 0 };

  case_approved (hostile, &c);
  g_variant_unref (c.prepare.facts);
  c.prepare.facts = g_variant_ref_sink (g_variant_new_parsed ("[('known', 'no')]"));
  refused (hostile, &c, US_REASON_RECORD_CHANGED);
  g_variant_unref (c.prepare.facts);
  c.prepare.facts = g_variant_ref_sink (g_variant_new_parsed ("@a(ss) []"));
  refused (hostile, &c, US_REASON_FACTS);
}

static void
swapped_file (const Hostile *hostile)
{
  g_auto (Case) c = { 0 };

  case_approved (hostile, &c);
  fd_clear (&c.request->fds[0]);
  c.request->n_fds = 0;
  request_file (c.request, NOT_SHOWN);
  refused (hostile, &c, US_REASON_RECORD_CHANGED);
}

/* --- what the executor gave, for something else --- */

static void
other_record (const Hostile *hostile)
{
  g_auto (Case) approved = { 0 };
  g_auto (Case) other = { 0 };

  case_approved (hostile, &approved);
  case_new (hostile, &other);
  case_prepare (hostile, &other);

  /* the other record under the seal of the approved one */
  g_bytes_unref (other.prepare.seal);
  other.prepare.seal = g_bytes_ref (approved.prepare.seal);
  other.prepare.deadline = approved.prepare.deadline;
  refused (hostile, &other, US_REASON_BAD_SEAL);
  /* and under the approved one's id, with its record and without */
  request_set (&other.request->id, approved.request->id);
  refused (hostile, &other, US_REASON_BAD_SEAL);
  g_bytes_unref (other.prepare.record);
  other.prepare.record = g_bytes_ref (approved.prepare.record);
  refused (hostile, &other, US_REASON_RECORD_CHANGED);
  executes (hostile, &approved);
}

/* case_brief: approved in the second that it lives, which a slow machine may take for asking. */
static void
case_brief (const Hostile *hostile, Case *c)
{
  for (guint i = 0; i < 20; i++)
    {
      g_autoptr (GError) error = NULL;

      case_clear (c);
      case_new (hostile, c);
      case_target (c, "short");
      case_prepare (hostile, c);
      if (client_approve (hostile->client, hostile->lead, c->request, &c->prepare, &error))
        return;
      g_assert_true (us_error_has_reason (error, US_REASON_DEADLINE_PASSED));
    }
  g_error ("no approval came in time");
}

static void
late_deadline (const Hostile *hostile)
{
  g_auto (Case) c = { 0 };
  g_auto (Case) brief = { 0 };
  g_auto (Reply) reply = { 0 };
  g_autoptr (GError) error = NULL;

  case_approved (hostile, &c);
  c.prepare.deadline += (guint64) 3600 * G_USEC_PER_SEC;
  refused (hostile, &c, US_REASON_BAD_SEAL);

  case_brief (hostile, &brief);
  while (clock_boottime () <= brief.prepare.deadline)
    g_usleep (10000);
  refused (hostile, &brief, US_REASON_DEADLINE_PASSED);
  reply_sign (hostile->lead, brief.request, &brief.prepare, "approve", 0, &reply);
  assert_refused (
      client_answer (hostile->client, brief.request, &brief.prepare, &reply, NULL, &error), &error,
      US_REASON_DEADLINE_PASSED);
  brief.prepare.deadline += (guint64) 3600 * G_USEC_PER_SEC;
  refused (hostile, &brief, US_REASON_BAD_SEAL);
}

/* --- an approval, used where it does not belong --- */

static void
no_approval (const Hostile *hostile)
{
  g_auto (Case) c = { 0 };

  case_new (hostile, &c);
  case_prepare (hostile, &c);
  refused (hostile, &c, US_REASON_NOT_APPROVED);
}

static void
old_approval (const Hostile *hostile)
{
  g_auto (Case) first = { 0 };
  g_auto (Case) second = { 0 };
  g_auto (Reply) reply = { 0 };
  g_autoptr (GError) error = NULL;

  case_new (hostile, &first);
  case_prepare (hostile, &first);
  reply_sign (hostile->lead, first.request, &first.prepare, "approve", 0, &reply);
  g_assert_true (
      client_answer (hostile->client, first.request, &first.prepare, &reply, NULL, &error));
  executes (hostile, &first);

  /* the same once more, under a new id: the person has approved the first one, not this one */
  case_new (hostile, &second);
  g_clear_pointer (&second.request->arguments, g_variant_unref);
  second.request->arguments = g_variant_ref (first.request->arguments);
  case_prepare (hostile, &second);
  assert_refused (
      client_answer (hostile->client, second.request, &second.prepare, &reply, NULL, &error),
      &error, US_REASON_STATEMENT_CHANGED);
  refused (hostile, &second, US_REASON_NOT_APPROVED);
}

static void
answer_after_close (const Hostile *hostile)
{
  g_auto (Case) c = { 0 };
  g_auto (Reply) reply = { 0 };
  g_autoptr (GError) error = NULL;

  case_approved (hostile, &c);
  assert_good (client_close (hostile->client, c.request->id, "denied", &error), &error);
  reply_sign (hostile->lead, c.request, &c.prepare, "approve", 0, &reply);
  assert_refused (client_answer (hostile->client, c.request, &c.prepare, &reply, NULL, &error),
                  &error, US_REASON_CLOSED);
  refused (hostile, &c, US_REASON_CLOSED);
}

/* successor: @newer, prepared to supersede @older. */
static void
successor (const Hostile *hostile, const Case *older, Case *newer)
{
  guint8 digest[PAE_DIGEST_SIZE];

  case_new (hostile, newer);
  pae_sha256 (PAE_TYPE_RECORD, older->prepare.record, digest);
  request_set (&newer->request->supersedes, older->request->id);
  g_free (newer->request->supersedes_digest);
  newer->request->supersedes_digest = digest_to_string (digest);
  case_prepare (hostile, newer);
  case_approve (hostile, newer);
}

static void
both_of_a_supersede (const Hostile *hostile)
{
  g_auto (Case) older = { 0 };
  g_auto (Case) newer = { 0 };
  g_auto (Case) older_first = { 0 };
  g_auto (Case) newer_second = { 0 };
  g_auto (Case) denied = { 0 };

  case_approved (hostile, &older);
  successor (hostile, &older, &newer);
  executes (hostile, &newer);
  refused (hostile, &older, US_REASON_CLOSED);

  case_approved (hostile, &older_first);
  successor (hostile, &older_first, &newer_second);
  executes (hostile, &older_first);
  refused (hostile, &newer_second, US_REASON_ALREADY_CONSUMED);
  /* what it supersedes is part of what was signed */
  request_set (&newer_second.request->supersedes, "");
  request_set (&newer_second.request->supersedes_digest, "");
  refused (hostile, &newer_second, US_REASON_STATEMENT_CHANGED);

  case_approved (hostile, &denied);
  g_assert_true (client_close (hostile->client, denied.request->id, "superseded", NULL));
  refused (hostile, &denied, US_REASON_CLOSED);
}

/* --- once --- */

static void
twice (const Hostile *hostile)
{
  g_auto (Case) c = { 0 };

  case_approved (hostile, &c);
  executes (hostile, &c);
  refused (hostile, &c, US_REASON_ALREADY_CONSUMED);
  refused (hostile, &c, US_REASON_ALREADY_CONSUMED);
}

/* one_of_many: an exit status: 1 executed, 0 refused as it must be. */
static int
one_of_many (const Hostile *hostile, Case *c, int start)
{
  g_autoptr (GError) error = NULL;
  char byte = 0;

  if (read (start, &byte, 1) != 0)
    return 9;
  if (client_execute (hostile->client, c->request, &c->prepare, NULL, &error))
    return 1;
  return us_error_has_reason (error, US_REASON_ALREADY_CONSUMED) ? 0 : 9;
}

static void
fifty_at_once (const Hostile *hostile)
{
  g_auto (Case) c = { 0 };
  guint before = hostile->executed (hostile->data);
  pid_t pids[PARALLEL];
  guint executed = 0;
  int start[2];

  case_approved (hostile, &c);
  g_assert_cmpint (pipe (start), ==, 0);
  for (guint i = 0; i < PARALLEL; i++)
    {
      pids[i] = fork ();
      g_assert_cmpint (pids[i], >=, 0);
      if (pids[i] == 0)
        {
          close (start[1]);
          _exit (one_of_many (hostile, &c, start[0]));
        }
    }
  close (start[1]);
  for (guint i = 0; i < PARALLEL; i++)
    {
      int status = 0;

      g_assert_cmpint (waitpid (pids[i], &status, 0), ==, pids[i]);
      g_assert_true (WIFEXITED (status));
      g_assert_cmpint (WEXITSTATUS (status), <=, 1);
      executed += (guint) WEXITSTATUS (status);
    }
  close (start[0]);
  g_assert_cmpuint (executed, ==, 1);
  g_assert_cmpuint (hostile->executed (hostile->data), ==, before + 1);
}

/* The ledger from before the execution is copied back in the same boot. */
static void
old_ledger (const Hostile *hostile)
{
  g_auto (Case) c = { 0 };
  g_auto (Case) other = { 0 };
  g_autofree char *state = NULL;

  case_approved (hostile, &c);
  case_approved (hostile, &other);
  hostile->backup (hostile->data);
  executes (hostile, &c);
  hostile->restore (hostile->data);

  state = client_state (hostile->client, c.request->id);
  g_assert_cmpstr (state, ==, "none"); /* it has forgotten */
  refused (hostile, &c, US_REASON_LEDGER_BEHIND);
  refused (hostile, &other, US_REASON_LEDGER_BEHIND);
}

static const struct
{
  const char *name;
  void (*run) (const Hostile *hostile);
} cases[] = {
  { "false-uid", false_uid },
  { "false-part", false_part },
  { "false-run", false_run },
  { "false-initiator", false_initiator },
  { "false-claim", false_claim },
  { "false-argument", false_argument },
  { "false-facts", false_facts },
  { "swapped-file", swapped_file },
  { "other-record", other_record },
  { "late-deadline", late_deadline },
  { "no-approval", no_approval },
  { "old-approval", old_approval },
  { "answer-after-close", answer_after_close },
  { "both-of-a-supersede", both_of_a_supersede },
  { "twice", twice },
  { "fifty-at-once", fifty_at_once },
  { "old-ledger", old_ledger },
};

guint
hostile_count (void)
{
  return G_N_ELEMENTS (cases);
}

const char *
hostile_name (guint i)
{
  return cases[i].name;
}

void
hostile_run (const Hostile *hostile, guint i)
{
  cases[i].run (hostile);
}
