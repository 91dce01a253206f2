/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/record/sample.h"

#include <string.h>

JsonTree *
sample_json (const char *json)
{
  static const JsonLimits limits = { 1024 * 1024, 16, 1024 * 1024, 10000 };
  g_autoptr (GError) error = NULL;
  JsonTree *tree = json_tree_parse (json, strlen (json), &limits, &error);

  g_assert_no_error (error);
  return tree;
}

GBytes *
sample_bytes (const char *text)
{
  return g_bytes_new (text, strlen (text));
}

RecordBuilder *
sample_envelope (void)
{
  RecordBuilder *builder = record_builder_new (SAMPLE_HOST);

  record_builder_agent (builder, "offboarding", 61184, "hr.jones", "licences");
  record_builder_run (builder, SAMPLE_RUN, "ticket-4711", "hr.kim", 1003);
  record_builder_action (builder, "mail.send", "Send an e-mail", "irreversible");
  record_builder_policy (builder, SAMPLE_POLICY);
  return builder;
}

RecordBuilder *
sample_builder (void)
{
  RecordBuilder *builder = sample_envelope ();

  record_builder_argument (builder, "to", "To", "email-list",
                           sample_json ("[\"security@example.com\"]"));
  record_builder_argument (builder, "bcc", "Bcc", "email-list", sample_json ("[]"));
  record_builder_argument (builder, "body", "Text", "text",
                           sample_json ("\"Good morning,\\n\\nthe report.\\n\""));
  record_builder_argument (
      builder, "attachment", "Attachments", "file-list",
      sample_json ("[{\"name\":\"report.pdf\",\"size\":\"18233\",\"sha256\":\"" SAMPLE_SHA256
                   "\"}]"));
  record_builder_argument (builder, "urgent", "Urgent", "boolean", sample_json ("false"));
  record_builder_fact (builder, "known", "Recipient", "line",
                       sample_json ("\"first time for this agent\""), FALSE);
  record_builder_executor (builder, "mail", "work-smtp");
  record_builder_setting (builder, "server", "Server", "hostport",
                          sample_json ("\"smtp.example.com:587\""));
  record_builder_setting (builder, "from", "From", "email",
                          sample_json ("\"offboarding@example.com\""));
  record_builder_claim (builder, "The manager asked for it.");
  return builder;
}

Record *
sample_record (void)
{
  g_autoptr (RecordBuilder) builder = sample_builder ();
  g_autoptr (GError) error = NULL;
  Record *record = record_builder_end (builder, &error);

  g_assert_no_error (error);
  return record;
}

Record *
sample_with (const char *type, const char *json, GError **error)
{
  g_autoptr (RecordBuilder) builder = sample_envelope ();

  record_builder_argument (builder, "arg", "Argument", type, sample_json (json));
  record_builder_executor (builder, "null", "");
  return record_builder_end (builder, error);
}

GBytes *
sample_replace (const char *from, const char *to)
{
  g_autoptr (Record) record = sample_record ();
  gsize len;
  const char *text = g_bytes_get_data (record_bytes (record), &len);
  g_autoptr (GString) copy = g_string_new_len (text, (gssize) len);

  if (g_string_replace (copy, from, to, 1) != 1)
    g_error ("the sample does not hold %s", from);
  return g_bytes_new (copy->str, copy->len);
}
