/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is no record, and that each member of one is in its digest. */
#include "service/record/record.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/record/type.h"
#include "tests/record/sample.h"

#include <string.h>

#define BAD US_REASON_BAD_RECORD

static const char golden[] =
    "{\"action\":{\"effect\":\"irreversible\",\"id\":\"mail.send\",\"summary\":\"Send an e-mail\"},"
    "\"agent\":{\"name\":\"offboarding\",\"owner\":\"hr.jones\",\"part\":\"licences\","
    "\"uid\":\"61184\"},"
    "\"arguments\":["
    "{\"label\":\"To\",\"name\":\"to\",\"type\":\"email-list\",\"value\":[\"security@example.com\"]"
    "},"
    "{\"label\":\"Bcc\",\"name\":\"bcc\",\"type\":\"email-list\",\"value\":[]},"
    "{\"label\":\"Text\",\"name\":\"body\",\"type\":\"text\","
    "\"value\":\"Good morning,\\n\\nthe report.\\n\"},"
    "{\"label\":\"Attachments\",\"name\":\"attachment\",\"type\":\"file-list\","
    "\"value\":[{\"name\":\"report.pdf\",\"sha256\":\"" SAMPLE_SHA256 "\",\"size\":\"18233\"}]},"
    "{\"label\":\"Urgent\",\"name\":\"urgent\",\"type\":\"boolean\",\"value\":false}],"
    "\"claim\":\"The manager asked for it.\","
    "\"executor\":{\"credential\":\"work-smtp\",\"module\":\"mail\",\"settings\":["
    "{\"label\":\"Server\",\"name\":\"server\",\"type\":\"hostport\","
    "\"value\":\"smtp.example.com:587\"},"
    "{\"label\":\"From\",\"name\":\"from\",\"type\":\"email\",\"value\":\"offboarding@example."
    "com\"}]},"
    "\"facts\":[{\"label\":\"Recipient\",\"name\":\"known\",\"recheck\":false,\"type\":\"line\","
    "\"value\":\"first time for this agent\"}],"
    "\"format\":\"undersign.record/1\",\"host\":\"" SAMPLE_HOST "\","
    "\"policy\":\"" SAMPLE_POLICY "\","
    "\"run\":{\"id\":\"" SAMPLE_RUN "\",\"initiator\":{\"name\":\"hr.kim\",\"uid\":\"1003\"},"
    "\"label\":\"ticket-4711\"}}";

static void
test_golden (void)
{
  g_autoptr (Record) built = sample_record ();
  g_autoptr (GBytes) bytes = sample_bytes (golden);
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) read = record_decode (bytes, &error);
  g_autofree char *pae =
      g_strdup_printf ("DSSEv1 40 application/vnd.undersign.record.v1+json %" G_GSIZE_FORMAT " %s",
                       strlen (golden), golden);
  g_autofree char *digest = g_compute_checksum_for_string (G_CHECKSUM_SHA256, pae, -1);
  g_autofree char *name = NULL;
  g_autofree char *fingerprint = NULL;

  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (record_bytes (built), NULL),
                   g_bytes_get_size (record_bytes (built)), golden, strlen (golden));
  g_assert_true (digest_equal (record_digest (built), record_digest (read)));
  name = digest_to_string (record_digest (read));
  g_assert_true (g_str_has_suffix (name, digest));
  fingerprint = record_fingerprint (read);
  g_assert_cmpuint (strlen (fingerprint), ==, 14);
  g_assert_true (strncmp (fingerprint, digest, 4) == 0 &&
                 strncmp (fingerprint + 10, digest + 8, 4) == 0);
}

/* The sample with one change: why it is refused. */
static const struct
{
  const char *from, *to, *reason, *text;
} refused[] = {
  /* members */
  { "\"agent\":", "\"agents\":", BAD, "the record has no member agent" },
  { "\"facts\":", "\"fact\":", BAD, "no member facts" },
  { "\"format\":\"undersign.record/1\",", "", BAD, "no member format" },
  { "undersign.record/1", "undersign.record/2", BAD, "format" },
  { "\"run\":{", "\"run\":{\"extra\":\"\",", BAD, "run has a member too many" },
  { "\"uid\":\"61184\"}", "\"uid\":\"61184\",\"x\":\"y\"}", BAD, "agent has a member too many" },
  { "\"policy\":", "\"polizei\":\"\",\"policy\":", BAD, "the record has a member too many" },
  { "\"owner\":\"hr.jones\",", "", BAD, "agent has no member owner" },
  { "\"owner\":\"hr.jones\"", "\"owner\":\"\"", BAD, "agent.owner" },
  { "\"owner\":\"hr.jones\"", "\"owner\":\"hr jones\"", BAD, "agent.owner" },
  { "\"name\":\"offboarding\"", "\"name\":\"Offboarding\"", BAD, "agent.name" },
  { "\"uid\":\"61184\"", "\"uid\":61184", BAD, "agent.uid" },
  { "\"uid\":\"61184\"", "\"uid\":\"061184\"", BAD, "agent.uid" },
  { "\"uid\":\"61184\"", "\"uid\":\"-1\"", BAD, "agent.uid" },
  { "\"uid\":\"61184\"", "\"uid\":\"+1\"", BAD, "agent.uid" },
  { "\"uid\":\"61184\"", "\"uid\":\"4294967295\"", BAD, "agent.uid" },
  { "\"part\":\"licences\"", "\"part\":\"\"", BAD, "agent.part" },
  { SAMPLE_HOST, "00112233445566778899AABBCCDDEEFF", BAD, "host" },
  { SAMPLE_HOST, "0011", BAD, "host" },
  { SAMPLE_RUN, "", BAD, "run.id" },
  { "ticket-4711", "ticket\\n4711", BAD, "run.label" },
  { "\"name\":\"hr.kim\"", "\"name\":\"\"", BAD, "run.initiator" },
  { "\"uid\":\"1003\"", "\"uid\":\"01003\"", BAD, "run.initiator" },
  { ",\"uid\":\"1003\"", "", BAD, "run.initiator has no member uid" },
  { "{\"name\":\"hr.kim\",\"uid\":\"1003\"}", "\"hr.kim\"", BAD, "run.initiator is not an object" },
  { "\"id\":\"mail.send\"", "\"id\":\"mail..send\"", BAD, "action.id" },
  { "\"id\":\"mail.send\"", "\"id\":\"../send\"", BAD, "action.id" },
  { "\"id\":\"mail.send\"", "\"id\":\"mail\"", BAD, "action.id" },
  { "Send an e-mail", "", BAD, "action.summary" },
  { "Send an e-mail", "Send\\u202e", BAD, "action.summary" },
  { "irreversible", "harmless", BAD, "action.effect" },
  { "irreversible", "", BAD, "action.effect" },
  { "\"policy\":\"sha256:", "\"policy\":\"", BAD, "policy" },
  { "\"policy\":\"sha256:", "\"policy\":\"sha512:", BAD, "policy" },
  { "\"module\":\"mail\"", "\"module\":\"../mail\"", BAD, "executor.module" },
  { "\"module\":\"mail\"", "\"module\":\"\"", BAD, "executor.module" },
  { "work-smtp", "Work/smtp", BAD, "executor.credential" },
  { "The manager asked for it.", "", BAD, "claim" },
  { "\"claim\":\"The manager asked for it.\"", "\"claim\":true", BAD, "claim" },
  /* entries */
  { "\"name\":\"bcc\"", "\"name\":\"to\"", BAD, "to: the name is there twice" },
  { "\"name\":\"bcc\"", "\"name\":\"to\\u200b\"", BAD, "arguments: its name" },
  { "\"name\":\"bcc\"", "\"name\":\"\"", BAD, "arguments: its name" },
  { "\"name\":\"from\"", "\"name\":\"server\"", BAD, "server: the name is there twice" },
  { "\"label\":\"Bcc\"", "\"label\":\"\"", BAD, "bcc: its label" },
  { "\"label\":\"Bcc\"", "\"label\":\"B\\u202ecc\"", BAD, "bcc: its label" },
  { "\"label\":\"Bcc\",", "", BAD, "arguments has no member label" },
  { "\"type\":\"boolean\"", "\"type\":\"bool\"", BAD, "urgent: there is no such type" },
  { "\"type\":\"boolean\"", "\"type\":true", BAD, "urgent: there is no such type" },
  { "\"recheck\":false", "\"recheck\":\"no\"", BAD, "known: recheck" },
  { "\"recheck\":false,", "", BAD, "facts has no member recheck" },
  { "\"name\":\"bcc\",", "\"name\":\"bcc\",\"recheck\":false,", BAD, "a member too many" },
  { "\"type\":\"email\",\"value\":\"offboarding@example.com\"",
    "\"type\":\"file-list\",\"value\":[]", BAD, "from: only arguments hold files" },
  { "\"facts\":[{", "\"facts\":{\"x\":{", US_REASON_BAD_JSON, NULL },
  { "\"value\":false", "\"value\":\"false\"", US_REASON_WRONG_TYPE, "urgent" },
  { "\"value\":false", "\"value\":null", US_REASON_WRONG_TYPE, "urgent" },
  { "\"value\":false", "\"value\":0", US_REASON_WRONG_TYPE, "urgent" },
  { "\"value\":[]", "\"value\":null", US_REASON_WRONG_TYPE, "bcc" },
  { "\"value\":[]", "\"value\":\"\"", US_REASON_WRONG_TYPE, "bcc" },
  { "security@example.com", "security@Example.com", US_REASON_NOT_CANONICAL, "to: item 1" },
  { "smtp.example.com:587", "smtp.example.com", US_REASON_BAD_VALUE, "server" },
  { "\"size\":\"18233\"", "\"size\":18233", US_REASON_WRONG_TYPE, "attachment: item 1" },
  { "\"type\":\"hostport\"", "\"type\":\"line-list\"", US_REASON_WRONG_TYPE, "server" },
  /* bytes */
  { "\"action\":", " \"action\":", BAD, "canonical form" },
  { "Send an e-mail", "Send an e-\\u006dail", BAD, "canonical form" },
  { "Send an e-mail", "Send an e\\/mail", BAD, "canonical form" },
  { "{\"effect\":\"irreversible\",\"id\":\"mail.send\"",
    "{\"id\":\"mail.send\","
    "\"effect\":\"irreversible\"",
    BAD, "canonical form" },
  { "\"ticket-4711\"}}", "\"ticket-4711\"}}\n", BAD, "canonical form" },
  { "\"ticket-4711\"}}", "\"ticket-4711\"}}{}", US_REASON_BAD_JSON, NULL },
  { "\"ticket-4711\"}}", "\"ticket-4711\"}", US_REASON_BAD_JSON, NULL },
  { "{\"action\":", "{\"host\":\"x\",\"action\":", US_REASON_BAD_JSON, NULL },
  { "{\"effect\":", "{\"id\":\"mail.read\",\"effect\":", US_REASON_BAD_JSON, NULL },
  { "Send an e-mail", "Send an e-\\u0000mail", US_REASON_BAD_JSON, NULL },
  { "Send an e-mail", "Send an e-\377mail", US_REASON_BAD_JSON, NULL },
  { "Send an e-mail", "Send an e-\\ud83dmail", US_REASON_BAD_JSON, NULL },
};

static void
assert_no_record (GBytes *bytes, const char *reason, const char *text, const char *about)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = record_decode (bytes, &error);

  if (record != NULL || !us_error_has_reason (error, reason) ||
      (text != NULL && strstr (error->message, text) == NULL))
    g_error ("%s: expected %s %s, got %s", about, reason, text != NULL ? text : "",
             error != NULL ? error->message : "a record");
  g_assert_true (g_error_matches (error, US_ERROR, US_ERROR_INVALID_ARGUMENT));
}

static void
test_refused (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (GBytes) bytes = sample_replace (refused[i].from, refused[i].to);

      assert_no_record (bytes, refused[i].reason, refused[i].text, refused[i].to);
    }
}

static void
test_not_an_object (void)
{
  static const char *const texts[] = { "[]", "\"\"", "{}", "true", "null", "5" };
  g_autoptr (GBytes) none = sample_bytes ("");

  assert_no_record (none, US_REASON_BAD_JSON, NULL, "empty");
  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GBytes) bytes = sample_bytes (texts[i]);

      assert_no_record (bytes, BAD, NULL, texts[i]);
    }
}

/* Every byte counts: change any one and the digest is another, or there is no record. */
static void
test_every_byte (void)
{
  g_autoptr (Record) record = sample_record ();
  gsize len;
  const guint8 *data = g_bytes_get_data (record_bytes (record), &len);

  for (gsize i = 0; i < len; i++)
    {
      g_autofree guint8 *copy = g_memdup2 (data, len);
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (Record) other = NULL;

      copy[i] ^= 0x01;
      bytes = g_bytes_new (copy, len);
      other = record_decode (bytes, NULL);
      g_assert_false (other != NULL &&
                      digest_equal (record_digest (other), record_digest (record)));
      g_assert_false (other != NULL && !g_bytes_equal (record_bytes (other), bytes));
    }
}

static void
test_absent_members (void)
{
  g_autoptr (GBytes) no_claim = sample_replace ("\"claim\":\"The manager asked for it.\",", "");
  g_autoptr (GBytes) no_initiator =
      sample_replace ("\"initiator\":{\"name\":\"hr.kim\",\"uid\":\"1003\"},", "");
  g_autoptr (Record) silent = record_decode (no_claim, NULL);
  g_autoptr (Record) alone = record_decode (no_initiator, NULL);
  const char *name = NULL;
  guint32 uid = 7;

  g_assert_cmpstr (record_claim (silent), ==, "");
  g_assert_true (record_initiator (silent, &name, &uid));
  g_assert_cmpstr (name, ==, "hr.kim");
  g_assert_cmpuint (uid, ==, 1003);
  uid = 7;
  g_assert_false (record_initiator (alone, &name, &uid));
  g_assert_cmpuint (uid, ==, 7);
}

static void
test_getters (void)
{
  g_autoptr (Record) record = sample_record ();
  const char *type = NULL;

  g_assert_cmpstr (record_host (record), ==, SAMPLE_HOST);
  g_assert_cmpstr (record_agent_name (record), ==, "offboarding");
  g_assert_cmpuint (record_agent_uid (record), ==, 61184);
  g_assert_cmpstr (record_agent_owner (record), ==, "hr.jones");
  g_assert_cmpstr (record_agent_part (record), ==, "licences");
  g_assert_cmpstr (record_run_id (record), ==, SAMPLE_RUN);
  g_assert_cmpstr (record_run_label (record), ==, "ticket-4711");
  g_assert_cmpstr (record_action_id (record), ==, "mail.send");
  g_assert_cmpstr (record_action_summary (record), ==, "Send an e-mail");
  g_assert_cmpstr (record_action_effect (record), ==, "irreversible");
  g_assert_cmpstr (record_claim (record), ==, "The manager asked for it.");
  g_assert_cmpstr (record_policy (record), ==, SAMPLE_POLICY);
  g_assert_cmpstr (record_module (record), ==, "mail");
  g_assert_cmpstr (record_credential (record), ==, "work-smtp");

  g_assert_cmpuint (json_tree_length (record_argument (record, "to", &type)), ==, 1);
  g_assert_cmpstr (type, ==, "email-list");
  g_assert_cmpstr (json_tree_string (record_fact (record, "known", NULL)), ==,
                   "first time for this agent");
  g_assert_cmpstr (json_tree_string (record_setting (record, "from", &type)), ==,
                   "offboarding@example.com");
  g_assert_cmpstr (type, ==, "email");
  /* a name of one section is nothing in another */
  g_assert_null (record_argument (record, "known", NULL));
  g_assert_null (record_fact (record, "to", NULL));
  g_assert_null (record_setting (record, "to", NULL));
}

/* Which changes make another intent: what would be done, by whom, with what; not when or why. */
static const struct
{
  const char *from, *to;
  gboolean same;
} intents[] = {
  { "hr.jones", "hr.smith", TRUE },
  { "licences", "main", TRUE },
  { SAMPLE_RUN, SAMPLE_HOST, TRUE },
  { "ticket-4711", "ticket-4712", TRUE },
  { "The manager", "The owner", TRUE },
  { "first time", "second time", TRUE },
  { "\"policy\":\"sha256:00", "\"policy\":\"sha256:11", TRUE },
  { "\"host\":\"00", "\"host\":\"11", TRUE },
  { "Send an e-mail", "Send a letter", TRUE },
  { "\"label\":\"Bcc\"", "\"label\":\"Blind\"", TRUE },
  { "\"effect\":\"irreversible\"", "\"effect\":\"reversible\"", TRUE },
  { "\"name\":\"offboarding\"", "\"name\":\"onboarding\"", FALSE },
  { "61184", "61185", FALSE },
  { "mail.send", "mail.post", FALSE },
  { "security@", "secure@", FALSE },
  { "\"value\":[]", "\"value\":[\"boss@example.com\"]", FALSE },
  { "\"name\":\"bcc\"", "\"name\":\"cc\"", FALSE },
  { "\"type\":\"email\"", "\"type\":\"line\"", FALSE },
  { "\"sha256\":\"ff", "\"sha256\":\"fe", FALSE },
  { "18233", "18234", FALSE },
  { "report.pdf", "Report.pdf", FALSE },
  { "\"module\":\"mail\"", "\"module\":\"null\"", FALSE },
  { "work-smtp", "other-smtp", FALSE },
  { "smtp.example.com", "smtp.example.org", FALSE },
};

static void
test_intent (void)
{
  g_autoptr (Record) record = sample_record ();

  for (gsize i = 0; i < G_N_ELEMENTS (intents); i++)
    {
      g_autoptr (GBytes) bytes = sample_replace (intents[i].from, intents[i].to);
      g_autoptr (Record) other = record_decode (bytes, NULL);

      g_test_message ("%s", intents[i].to);
      g_assert_nonnull (other);
      g_assert_false (digest_equal (record_digest (record), record_digest (other)));
      g_assert_true (digest_equal (record_intent (record), record_intent (other)) ==
                     intents[i].same);
    }
}

static void
assert_builder_refused (RecordBuilder *builder, const char *reason)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = record_builder_end (builder, &error);

  if (record != NULL || !us_error_has_reason (error, reason))
    g_error ("expected %s, got %s", reason, error != NULL ? error->message : "a record");
}

static void
test_builder_refuses (void)
{
  g_autoptr (RecordBuilder) empty = record_builder_new (SAMPLE_HOST);
  g_autoptr (RecordBuilder) bad_value = sample_builder ();
  g_autoptr (RecordBuilder) number = sample_builder ();
  g_autoptr (RecordBuilder) twice = sample_builder ();
  g_autoptr (RecordBuilder) file_fact = sample_builder ();

  assert_builder_refused (empty, BAD);
  record_builder_argument (bad_value, "cc", "Cc", "email", sample_json ("\"a@B.org\""));
  assert_builder_refused (bad_value, US_REASON_NOT_CANONICAL);
  record_builder_argument (number, "cc", "Cc", "integer", sample_json ("5"));
  assert_builder_refused (number, US_REASON_BAD_JSON);
  record_builder_argument (twice, "to", "To", "email", sample_json ("\"a@b.org\""));
  assert_builder_refused (twice, BAD);
  record_builder_fact (
      file_fact, "proof", "Proof", "file",
      sample_json ("{\"name\":\"a\",\"size\":\"1\",\"sha256\":\"" SAMPLE_SHA256 "\"}"), FALSE);
  assert_builder_refused (file_fact, BAD);
}

static void
test_too_many_arguments (void)
{
  g_autoptr (RecordBuilder) builder = sample_builder ();

  for (guint i = 0; i < RECORD_MAX_ARGUMENTS; i++)
    {
      g_autofree char *name = g_strdup_printf ("a%u", i);

      record_builder_argument (builder, name, "A", "line", sample_json ("\"\""));
    }
  assert_builder_refused (builder, US_REASON_TOO_LARGE);
}

static void
test_too_many_bytes (void)
{
  g_autoptr (RecordBuilder) builder = sample_builder ();
  g_autofree char *longest = g_strnfill (RECORD_MAX_STRING, 'a');

  for (guint i = 0; i < RECORD_MAX_BYTES / RECORD_MAX_STRING; i++)
    {
      g_autofree char *name = g_strdup_printf ("a%u", i);

      record_builder_argument (builder, name, "A", "line", json_tree_new_string (longest));
    }
  assert_builder_refused (builder, US_REASON_TOO_LARGE);
}

/* Two files of the largest size fit into one record, a third does not. */
static void
test_too_many_file_bytes (void)
{
  static const char file[] =
      "{\"name\":\"a\",\"size\":\"26214400\",\"sha256\":\"" SAMPLE_SHA256 "\"}";
  g_autoptr (RecordBuilder) builder = sample_builder ();
  g_autoptr (Record) fits = NULL;
  g_autoptr (GError) error = NULL;

  record_builder_argument (builder, "f0", "A", "file", sample_json (file));
  record_builder_argument (builder, "f1", "A", "file", sample_json (file));
  fits = record_builder_end (builder, &error);
  g_assert_no_error (error);
  record_builder_argument (builder, "f2", "A", "file", sample_json (file));
  assert_builder_refused (builder, US_REASON_TOO_LARGE);
}

static void
test_claim (void)
{
  g_autoptr (RecordBuilder) builder = record_builder_new (SAMPLE_HOST);
  g_autofree char *longest = g_strnfill (RECORD_MAX_CLAIM + 1, 'a');
  g_autoptr (Record) silent = NULL;
  g_autoptr (GError) error = NULL;

  record_builder_agent (builder, "a", 1, "b", "main");
  record_builder_run (builder, SAMPLE_RUN, "", NULL, 0);
  record_builder_action (builder, "a.b", "A", "read");
  record_builder_executor (builder, "null", "");
  record_builder_policy (builder, SAMPLE_POLICY);
  record_builder_claim (builder, "");
  silent = record_builder_end (builder, &error);
  g_assert_no_error (error);
  g_assert_null (json_tree_member (record_tree (silent), "claim"));
  record_builder_claim (builder, longest);
  assert_builder_refused (builder, US_REASON_TOO_LARGE);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/golden", test_golden);
  g_test_add_func ("/record/refused", test_refused);
  g_test_add_func ("/record/not-an-object", test_not_an_object);
  g_test_add_func ("/record/every-byte", test_every_byte);
  g_test_add_func ("/record/absent-members", test_absent_members);
  g_test_add_func ("/record/getters", test_getters);
  g_test_add_func ("/record/intent", test_intent);
  g_test_add_func ("/record/builder-refuses", test_builder_refuses);
  g_test_add_func ("/record/too-many-arguments", test_too_many_arguments);
  g_test_add_func ("/record/too-many-bytes", test_too_many_bytes);
  g_test_add_func ("/record/too-many-file-bytes", test_too_many_file_bytes);
  g_test_add_func ("/record/claim", test_claim);
  return g_test_run ();
}
