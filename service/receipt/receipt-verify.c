/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Verifying a receipt.  Two things are kept apart: whether the receipt holds together, where the
 * first check that fails is the end of it; and what follows from that, line by line: what a key
 * proves that the verifier was given, what only a key proves that the service names, and what
 * nobody but the service says.
 */
#include "service/receipt/story.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/chain.h"
#include "service/base/encode.h"
#include "service/base/given-keys.h"
#include "service/record/rows.h"

#include <string.h>

static void
line_free (ReceiptLine *line)
{
  g_free (line->who);
  g_free (line->text);
  g_free (line);
}

void
receipt_report_free (ReceiptReport *report)
{
  if (report == NULL)
    return;
  g_ptr_array_unref (report->lines);
  g_free (report);
}

const char *
receipt_trust_word (ReceiptTrust trust)
{
  switch (trust)
    {
    case RECEIPT_PROVEN:
      return "proven";
    case RECEIPT_CLAIMED:
      return "claimed";
    case RECEIPT_SAID:
    default:
      return "said";
    }
}

/* --- the checks --- */

static char *
statement_digest (const ReceiptAnswer *answer)
{
  guint8 digest[PAE_DIGEST_SIZE];

  pae_sha256 (PAE_TYPE_STATEMENT, answer->statement, digest);
  return digest_to_string (digest);
}

static gboolean
assertion_verify (const ReceiptAnswer *answer, GError **error)
{
  const Statement *statement = answer->decoded;
  g_autoptr (GBytes) credential = base64url_decode (statement->credential, PASSKEY_CREDENTIAL_MAX);
  guint8 challenge[PAE_DIGEST_SIZE];
  guint32 counter = 0;
  Passkey passkey = {
    .credential = credential,
    .name = statement->approver_name,
    .uid = statement->approver_uid,
    .kind = answer->kind,
    .algorithm = strcmp (answer->signer.algorithm, SIGNER_ES256) == 0 ? PASSKEY_ES256
                                                                      : PASSKEY_EDDSA,
    .public_key = answer->signer.public_key,
    .rp = statement->rp,
    .origin = answer->origin,
    .backup_eligible = answer->backup_eligible,
    .active = TRUE,
  };

  statement_challenge (answer->statement, challenge);
  return passkey_verify (&passkey, challenge, &answer->assertion, &counter, error);
}

static gboolean
answer_check (const Receipt *receipt, guint i, GError **error)
{
  const ReceiptAnswer *answer = g_ptr_array_index (receipt->answers, i);
  const char *known = g_ptr_array_index (receipt->outcome.answers, i);
  g_autofree char *digest = statement_digest (answer);

  if (strcmp (answer->decoded->request, receipt->outcome.request) != 0 ||
      strcmp (answer->decoded->record, receipt->outcome.record) != 0 ||
      strcmp (digest, known) != 0)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_STATEMENT_CHANGED,
                         "statement %u is not one on this request and record", i + 1);
  return assertion_verify (answer, error);
}

static gboolean
answers_check (const Receipt *receipt, GError **error)
{
  if (receipt->answers->len != receipt->outcome.answers->len)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_STATEMENT_CHANGED,
                         "the outcome names %u statements, here are %u",
                         receipt->outcome.answers->len, receipt->answers->len);
  for (guint i = 0; i < receipt->answers->len; i++)
    if (!answer_check (receipt, i, error))
      return FALSE;
  return TRUE;
}

static gboolean
impossible (GError **error, const char *text)
{
  return us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_OUTCOME, "%s", text);
}

static gboolean
outcome_check (const Receipt *receipt, const Story *story, GError **error)
{
  const ReceiptOutcome *outcome = &receipt->outcome;
  gboolean died =
      strcmp (story->state, "executing") == 0 && strcmp (outcome->state, "unknown") == 0;

  if (strcmp (outcome->state, story->state) != 0 && !died)
    return impossible (error, "the entries tell of another outcome");
  if (strcmp (outcome->source, story->source) != 0 || strcmp (outcome->by, story->by) != 0 ||
      strcmp (outcome->reason, story->reason) != 0 || strcmp (outcome->result, story->result) != 0)
    return impossible (error, "the entries tell otherwise who said what");
  return TRUE;
}

/* used_check: those who are named in the consumption, each once, and nobody else. */
static gboolean
used_check (const Receipt *receipt, const Story *story, GError **error)
{
  g_auto (GStrv) names = g_strsplit (story->approvers != NULL ? story->approvers : "", " ", -1);
  guint named = g_strv_length (names);
  guint used = 0;

  if (named == 1 && *names[0] == '\0')
    named = 0;
  for (guint i = 0; i < receipt->answers->len; i++)
    {
      const ReceiptAnswer *answer = g_ptr_array_index (receipt->answers, i);
      const char *name = answer->decoded->approver_name;

      if (!answer->used)
        continue;
      used++;
      if (strcmp (answer->decoded->decision, "approve") != 0 ||
          !g_strv_contains ((const char *const *) names, name))
        return impossible (error, "an answer counts that the execution did not use");
      for (guint j = 0; j < i; j++)
        {
          const ReceiptAnswer *other = g_ptr_array_index (receipt->answers, j);

          if (other->used && strcmp (other->decoded->approver_name, name) == 0)
            return impossible (error, "one person counts twice");
        }
    }
  return used == named || impossible (error, "an approval that the execution used is missing");
}

static gboolean
decisions_check (const Receipt *receipt, const Story *story, GError **error)
{
  gboolean denied = story->denial == NULL;

  for (guint i = 0; i < receipt->answers->len; i++)
    {
      const ReceiptAnswer *answer = g_ptr_array_index (receipt->answers, i);
      gboolean approves = strcmp (answer->decoded->decision, "approve") == 0;
      g_autofree char *digest = statement_digest (answer);

      if (!story_has (story, approves ? "approved" : "denied", digest))
        return impossible (error, "the entries do not tell of an answer");
      if (story->denial != NULL && !approves && strcmp (digest, story->denial) == 0)
        denied = strcmp (answer->decoded->approver_name, story->by) == 0;
    }
  return denied || impossible (error, "the signed denial is missing");
}

/* --- what follows --- */

static void G_GNUC_PRINTF (4, 5)
add_line (ReceiptReport *report, ReceiptTrust trust, const char *who, const char *format, ...)
{
  ReceiptLine *line = g_new0 (ReceiptLine, 1);
  va_list args;

  va_start (args, format);
  line->text = g_strdup_vprintf (format, args);
  va_end (args);
  line->trust = trust;
  line->who = g_strdup (who);
  g_ptr_array_add (report->lines, line);
}

static void
report_answer (ReceiptReport *report, const ReceiptAnswer *answer, GPtrArray *keys)
{
  const Statement *statement = answer->decoded;
  g_autofree char *id = signer_id_text (&answer->signer);
  g_autofree char *name = escape_line (statement->approver_name);
  gboolean given = given_keys_have (keys, id);
  gboolean approves = strcmp (statement->decision, "approve") == 0;

  add_line (report, given ? RECEIPT_PROVEN : RECEIPT_CLAIMED, name,
            "%s exactly this record, for this request alone; key %s%s",
            approves ? "approved" : "denied", id,
            given ? "" : ", which is this person's if the service says so rightly");
  add_line (report, RECEIPT_SAID, "the service",
            "the key is enrolled for %s, uid %u, as of kind %s; %s", name,
            (guint) statement->approver_uid, answer->kind,
            answer->used ? "the approval was used for the execution"
                         : (approves ? "the approval was not used" : "the denial ended the request"));
  report->proven = report->proven && given;
}

static const char *
source_name (const char *source)
{
  if (strcmp (source, AUDIT_SIGNED) == 0)
    return "the executor, which has verified the signature";
  if (strcmp (source, AUDIT_BROKER) == 0)
    return "the broker, unsigned";
  if (strcmp (source, AUDIT_ADMIN) == 0)
    return "an administrator";
  return "the executor";
}

static const char *
state_text (const char *state)
{
  static const char *const texts[][2] = {
    { "none", "nothing was executed or closed under this id up to then" },
    { "denied", "it was denied; nothing ran" },
    { "withdrawn", "the agent withdrew it; nothing ran" },
    { "expired", "its time ran out; nothing ran" },
    { "superseded", "another request took its place; nothing ran under this id" },
    { "unreachable", "nobody was left who could approve; nothing ran" },
    { "refused", "a check failed after a person had approved; nothing ran up to then" },
    { "executing", "it was being executed" },
    { "done", "it was executed" },
    { "failed", "it was tried, and the module guarantees that there was no effect" },
    { "unknown", "it was tried, and nobody knows what came of it" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    if (strcmp (texts[i][0], state) == 0)
      return texts[i][1];
  return "?";
}

static void
report_outcome (ReceiptReport *report, const Receipt *receipt, GPtrArray *keys)
{
  const ReceiptOutcome *outcome = &receipt->outcome;
  gboolean given = given_keys_have (keys, outcome->key);
  const char *who = source_name (outcome->source);
  const struct
  {
    const char *label, *value;
  } details[] = { { "by", outcome->by }, { "reason", outcome->reason },
                  { "result", outcome->result }, { "successor", outcome->successor } };

  add_line (report, RECEIPT_SAID, who, "%s: %s", outcome->state, state_text (outcome->state));
  for (gsize i = 0; i < G_N_ELEMENTS (details); i++)
    {
      g_autofree char *value = escape_line (details[i].value);

      if (*value != '\0')
        add_line (report, RECEIPT_SAID,
                  i == 1 && strcmp (outcome->source, AUDIT_SIGNED) == 0
                      ? "the broker, unsigned" /* a statement has no reason */
                      : who,
                  "%s: %s", details[i].label, value);
    }
  add_line (report, given ? RECEIPT_PROVEN : RECEIPT_CLAIMED, "the executor's host key",
            "that the service of host %s says so, as of %s, entry %" G_GUINT64_FORMAT
            " of ledger %s; key %s%s",
            outcome->host, outcome->time, outcome->seq, outcome->ledger, outcome->key,
            given ? "" : ", which is the host's if somebody else says so");
  report->proven = report->proven && given;
}

static void
report_record (ReceiptReport *report, const Receipt *receipt)
{
  g_autofree char *agent = NULL;

  if (receipt->decoded == NULL)
    {
      add_line (report, RECEIPT_SAID, "the service",
                *receipt->outcome.record != '\0'
                    ? "the record was not kept, only its digest: what was asked is not in here"
                    : "there is no record: what was asked is not in here");
      return;
    }
  agent = escape_line (record_agent_name (receipt->decoded));
  add_line (report, RECEIPT_SAID, "the broker",
            "that agent %s asked for it, in this part and run, and in these words", agent);
  add_line (report, RECEIPT_SAID, "the module",
            "the facts of the record, as of when it was prepared");
}

ReceiptReport *
receipt_verify (const Receipt *receipt, GPtrArray *keys, GError **error)
{
  g_autoptr (ReceiptReport) report = g_new0 (ReceiptReport, 1);
  g_auto (Story) story = { 0 };

  report->lines = g_ptr_array_new_with_free_func ((GDestroyNotify) line_free);
  if (!answers_check (receipt, error) || !story_follow (receipt, &story, error) ||
      !outcome_check (receipt, &story, error) || !used_check (receipt, &story, error) ||
      !decisions_check (receipt, &story, error))
    return NULL;

  report->proven = TRUE;
  for (guint i = 0; i < receipt->answers->len; i++)
    report_answer (report, g_ptr_array_index (receipt->answers, i), keys);
  if (receipt->answers->len == 0)
    add_line (report, RECEIPT_SAID, "the service",
              "nobody signed an answer: no signature of a person was here to check");
  report_outcome (report, receipt, keys);
  report_record (report, receipt);
  return g_steal_pointer (&report);
}
