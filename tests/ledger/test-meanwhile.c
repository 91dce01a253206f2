/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What another worker does between two steps of one call.  flock(2) is ours here: the call stops
 * where it looks at a lock, or at a statement, the other process does its work and says so, and the
 * call goes on.
 */
#include "service/ledger/private.h"
#include "tests/ledger/fixture.h"

#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The other process: it works when it is told to, and both say a byte where a step is done. */
typedef struct
{
  pid_t pid;
  int tell, hear;
  int at;                /* the operation of flock() at which it is told; 0 once it was */
  const char *statement; /* or how the statement begins at which it is */
} Other;

static Other other;

static void
byte_send (int fd)
{
  g_assert_cmpint (write (fd, "", 1), ==, 1);
}

static void
byte_receive (int fd)
{
  char byte = 0;

  g_assert_cmpint (read (fd, &byte, 1), ==, 1);
}

static void
other_works (void)
{
  other.at = 0;
  other.statement = NULL;
  byte_send (other.tell);
  byte_receive (other.hear);
}

int
flock (int fd, int operation)
{
  if (other.at != 0 && operation == other.at)
    other_works ();
  return (int) syscall (SYS_flock, fd, operation);
}

static int
on_statement (unsigned int event, void *data, void *statement, void *text)
{
  if (other.statement != NULL && g_str_has_prefix (text, other.statement))
    other_works ();
  return 0;
}

/* other_begin: @work: in the other process, with a ledger of its own; before anybody opened one. */
static void
other_begin (Fixture *fixture, void (*work) (Ledger *ledger, int hear, int tell))
{
  int there[2] = { -1, -1 };
  int back[2] = { -1, -1 };

  fixture_close (fixture);
  g_assert_cmpint (pipe (there), ==, 0);
  g_assert_cmpint (pipe (back), ==, 0);
  other.pid = fork ();
  g_assert_cmpint (other.pid, >=, 0);
  if (other.pid == 0)
    {
      fixture_reopen (fixture);
      work (fixture->ledger, there[0], back[1]);
      _exit (0);
    }
  close (there[0]);
  close (back[1]);
  other.tell = there[1];
  other.hear = back[0];
  byte_receive (other.hear);
  fixture_reopen (fixture);
}

static void
other_end (void)
{
  int status = 0;

  g_assert_cmpint (other.at, ==, 0);
  g_assert_null (other.statement);
  g_assert_cmpint (waitpid (other.pid, &status, 0), ==, other.pid);
  g_assert_cmpint (status, ==, 0);
  close (other.tell);
  close (other.hear);
}

static void
work_execute (Ledger *ledger, int hear, int tell)
{
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  Fixture fixture = { .ledger = ledger };

  g_assert_true (fixture_consume (&fixture, FIXTURE_REQUEST, record, NULL));
  byte_send (tell);
  byte_receive (hear);
  g_assert_true (ledger_finish (ledger, FIXTURE_REQUEST, "done", "", NULL));
  byte_send (tell);
}

/* The worker ends properly after what was read, and before its lock is looked at. */
static void
test_evidence_of_done (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Evidence) evidence = NULL;
  g_autoptr (GError) error = NULL;

  other_begin (fixture, work_execute);
  other.at = LOCK_SH | LOCK_NB;
  evidence = ledger_evidence (fixture->ledger, FIXTURE_REQUEST, NULL, &error);
  g_assert_no_error (error);
  other_end ();
  g_assert_cmpint (evidence->status.state, ==, LEDGER_DONE);
  g_assert_cmpuint (evidence->entries->len, ==, 2);
}

static void
work_note (Ledger *ledger, int hear, int tell)
{
  const guint8 image[PAE_DIGEST_SIZE] = { 7 };

  byte_send (tell);
  byte_receive (hear);
  g_assert_true (ledger_note_policy (ledger, image, TRUE, NULL));
  byte_send (tell);
}

/* Two workers begin together on a new policy: the log is told once. */
static void
test_policy_is_told_once (Fixture *fixture, gconstpointer data)
{
  const guint8 image[PAE_DIGEST_SIZE] = { 7 };
  g_autoptr (GPtrArray) entries = NULL;
  g_autoptr (GError) error = NULL;

  other_begin (fixture, work_note);
  other.at = LOCK_EX;
  g_assert_true (ledger_note_policy (fixture->ledger, image, TRUE, &error));
  g_assert_no_error (error);
  other_end ();
  entries = ledger_audit (fixture->ledger, 0, 10, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (entries->len, ==, 2); /* that it was created, and the policy */
}

/* Another commits and moves the mark after something was counted: no ledger is behind for that. */
static void
test_summary_of_now (Fixture *fixture, gconstpointer data)
{
  g_auto (LedgerSummary) summary = { 0 };
  g_autoptr (GError) error = NULL;

  other_begin (fixture, work_note);
  sqlite3_trace_v2 (fixture->ledger->db, SQLITE_TRACE_STMT, on_statement, NULL);
  other.statement = "SELECT why FROM meta";
  g_assert_true (ledger_summary (fixture->ledger, &summary, &error));
  g_assert_no_error (error);
  other_end ();
  g_assert_cmpstr (summary.stopped, ==, "");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_test ("/ledger/meanwhile/evidence-of-done", test_evidence_of_done);
  fixture_test ("/ledger/meanwhile/policy-is-told-once", test_policy_is_told_once);
  fixture_test ("/ledger/meanwhile/summary-of-now", test_summary_of_now);
  return g_test_run ();
}
