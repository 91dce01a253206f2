/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Passkeys and answers: who is known stays known, and no counter goes backwards unnoticed. */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "tests/ledger/fixture.h"

#include <string.h>

static Passkey *
enrol (Fixture *fixture, const char *name, uid_t uid, guint32 counter)
{
  g_autoptr (GError) error = NULL;
  Passkey *passkey = fixture_passkey (name, uid, counter);

  g_assert_true (ledger_add_passkey (fixture->ledger, passkey, 0, &error));
  g_assert_no_error (error);
  return passkey;
}

static void
test_passkey_round_trip (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Passkey) passkey = enrol (fixture, "it.lead", 1002, 4294967295u);
  g_autoptr (Passkey) read = NULL;
  g_autoptr (GPtrArray) all = NULL;

  fixture_reopen (fixture);
  read = ledger_passkey (fixture->ledger, passkey->credential, &error);
  g_assert_no_error (error);
  g_assert_true (read->active);
  g_assert_cmpstr (read->name, ==, "it.lead");
  g_assert_cmpuint (read->uid, ==, 1002);
  g_assert_cmpuint (read->counter, ==, 4294967295u);
  g_assert_cmpint (read->algorithm, ==, PASSKEY_ES256);
  g_assert_true (g_bytes_equal (read->public_key, passkey->public_key));
  g_assert_cmpint (read->enrolled, ==, passkey->enrolled);

  all = ledger_passkeys (fixture->ledger, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (all->len, ==, 1);
}

static void
test_passkey_comes_once (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Passkey) passkey = enrol (fixture, "it.lead", 1002, 0);
  g_autoptr (Passkey) stolen = fixture_passkey ("it.lead", 1003, 0);
  g_autoptr (GBytes) unknown = g_bytes_new_static ("x", 1);

  g_assert_false (ledger_add_passkey (fixture->ledger, stolen, 0, &error));
  fixture_assert_reason (&error, US_REASON_CREDENTIAL_EXISTS);
  g_assert_true (ledger_revoke_passkey (fixture->ledger, passkey->credential, 0, &error));
  g_assert_no_error (error);
  g_assert_false (ledger_add_passkey (fixture->ledger, passkey, 0, &error));
  fixture_assert_reason (&error, US_REASON_CREDENTIAL_EXISTS);

  g_assert_false (ledger_revoke_passkey (fixture->ledger, passkey->credential, 0, &error));
  fixture_assert_reason (&error, US_REASON_CREDENTIAL_REVOKED);
  g_assert_false (ledger_revoke_passkey (fixture->ledger, unknown, 0, &error));
  fixture_assert_reason (&error, US_REASON_CREDENTIAL_UNKNOWN);
}

static void
answer_expect (Fixture *fixture, const Answer *answer, const char *reason)
{
  g_autoptr (GError) error = NULL;
  gboolean added = ledger_add_answer (fixture->ledger, answer, &error);

  if (reason != NULL)
    {
      g_assert_false (added);
      fixture_assert_reason (&error, reason);
      return;
    }
  g_assert_no_error (error);
  g_assert_true (added);
}

static guint
answers_of (Fixture *fixture, const Record *record)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) answers =
      ledger_answers (fixture->ledger, FIXTURE_REQUEST, record_digest (record), &error);

  g_assert_no_error (error);
  return answers->len;
}

static gboolean
is_active (Fixture *fixture, const Passkey *passkey)
{
  g_autoptr (Passkey) read = ledger_passkey (fixture->ledger, passkey->credential, NULL);

  return read->active;
}

static void
test_counter (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    guint32 stored, asserted;
    gboolean good;
  } cases[] = {
    { 0, 0, TRUE },  { 0, 1, TRUE },  { 5, 6, TRUE },  { 5, 900, TRUE },
    { 5, 5, FALSE }, { 5, 4, FALSE }, { 5, 0, FALSE },
  };
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  guint stored = 0;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *name = g_strdup_printf ("person%u", i);
      g_autoptr (Passkey) passkey = enrol (fixture, name, 2000 + i, cases[i].stored);
      g_autoptr (Passkey) after = NULL;
      g_autoptr (Answer) answer =
          fixture_answer (passkey, FIXTURE_REQUEST, record, cases[i].asserted);

      answer_expect (fixture, answer, cases[i].good ? NULL : US_REASON_COUNTER);
      stored += cases[i].good ? 1 : 0;
      g_assert_cmpuint (answers_of (fixture, record), ==, stored);

      /* what is found out is kept, though the answer is refused */
      fixture_reopen (fixture);
      after = ledger_passkey (fixture->ledger, passkey->credential, NULL);
      g_assert_cmpint (after->active, ==, cases[i].good);
      g_assert_cmpuint (after->counter, ==, cases[i].good ? cases[i].asserted : cases[i].stored);
    }
}

static void
test_answer_again (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (Passkey) passkey = enrol (fixture, "it.lead", 1002, 0);
  g_autoptr (Answer) answer = fixture_answer (passkey, FIXTURE_REQUEST, record, 1);
  g_autoptr (Answer) newer = fixture_answer (passkey, FIXTURE_REQUEST, record, 2);
  g_autoptr (Answer) elsewhere = fixture_answer (passkey, FIXTURE_OTHER, record, 2);

  answer_expect (fixture, answer, NULL);
  answer_expect (fixture, answer, NULL); /* the broker lost the reply: not a cloned key */
  g_assert_true (is_active (fixture, passkey));
  /* nor the same with the other value of s, which everybody can work out and which is as good */
  g_clear_pointer (&answer->assertion.signature, g_bytes_unref);
  answer->assertion.signature = g_bytes_new_static ("its twin", 8);
  answer_expect (fixture, answer, NULL);
  g_assert_true (is_active (fixture, passkey));
  answer_expect (fixture, newer, NULL);
  g_assert_cmpuint (answers_of (fixture, record), ==, 1);
  answer_expect (fixture, elsewhere, US_REASON_COUNTER);
  g_assert_false (is_active (fixture, passkey));
}

static void
test_answer_is_refused (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (Passkey) passkey = enrol (fixture, "it.lead", 1002, 0);
  g_autoptr (Passkey) unknown = fixture_passkey ("nobody", 1005, 0);
  g_autoptr (Answer) answer = fixture_answer (passkey, FIXTURE_REQUEST, record, 1);
  g_autoptr (Answer) of_unknown = fixture_answer (unknown, FIXTURE_REQUEST, record, 1);
  g_autoptr (Answer) of_other = fixture_answer (passkey, FIXTURE_REQUEST, record, 1);

  answer_expect (fixture, of_unknown, US_REASON_CREDENTIAL_UNKNOWN);
  of_other->uid = 1005;
  answer_expect (fixture, of_other, US_REASON_CREDENTIAL_REVOKED);

  g_assert_true (ledger_halt (fixture->ledger, 0, "x", NULL));
  answer_expect (fixture, answer, US_REASON_HALTED);
  g_assert_true (ledger_resume (fixture->ledger, 0, "x", NULL));

  g_assert_true (fixture_close_request (fixture, FIXTURE_REQUEST, "withdrawn", &error));
  answer_expect (fixture, answer, US_REASON_CLOSED);

  g_assert_true (fixture_consume (fixture, FIXTURE_OTHER, record, &error));
  g_clear_pointer (&answer->request, g_free);
  answer->request = g_strdup (FIXTURE_OTHER);
  answer_expect (fixture, answer, US_REASON_ALREADY_CONSUMED);

  g_assert_true (ledger_revoke_passkey (fixture->ledger, passkey->credential, 0, &error));
  g_free (answer->request);
  answer->request = g_strdup (FIXTURE_THIRD);
  answer_expect (fixture, answer, US_REASON_CREDENTIAL_REVOKED);
  g_assert_cmpuint (answers_of (fixture, record), ==, 0);
}

static void
test_answers_are_of_one_record (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (Record) other = fixture_record_to ("b@example.com");
  g_autoptr (Passkey) passkey = enrol (fixture, "it.lead", 1002, 0);
  g_autoptr (Answer) answer = fixture_answer (passkey, FIXTURE_REQUEST, record, 0);

  answer_expect (fixture, answer, NULL);
  g_assert_cmpuint (answers_of (fixture, record), ==, 1);
  g_assert_cmpuint (answers_of (fixture, other), ==, 0);
}

static void
test_signed_denial (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = fixture_record_to ("a@example.com");
  g_autoptr (Passkey) passkey = enrol (fixture, "it.lead", 1002, 5);
  g_autoptr (Answer) denial = fixture_answer (passkey, FIXTURE_REQUEST, record, 6);
  g_autoptr (Answer) replay = fixture_answer (passkey, FIXTURE_OTHER, record, 6);
  Closing closing = { FIXTURE_REQUEST, record_bytes (record), "denied", "it.lead", "", denial };

  g_assert_true (ledger_close_request (fixture->ledger, &closing, &error));
  g_assert_no_error (error);
  g_assert_cmpint (fixture_state (fixture, FIXTURE_REQUEST), ==, LEDGER_CLOSED);
  g_assert_cmpuint (answers_of (fixture, record), ==, 0); /* it is not an approval */

  closing.request = FIXTURE_OTHER;
  closing.denial = replay;
  g_assert_false (ledger_close_request (fixture->ledger, &closing, &error));
  fixture_assert_reason (&error, US_REASON_COUNTER);
  g_assert_false (is_active (fixture, passkey));
  g_assert_cmpint (fixture_state (fixture, FIXTURE_OTHER), ==, LEDGER_NONE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_test ("/ledger/passkey/round-trip", test_passkey_round_trip);
  fixture_test ("/ledger/passkey/comes-once", test_passkey_comes_once);
  fixture_test ("/ledger/answer/counter", test_counter);
  fixture_test ("/ledger/answer/again", test_answer_again);
  fixture_test ("/ledger/answer/is-refused", test_answer_is_refused);
  fixture_test ("/ledger/answer/of-one-record", test_answers_are_of_one_record);
  fixture_test ("/ledger/answer/signed-denial", test_signed_denial);
  return g_test_run ();
}
