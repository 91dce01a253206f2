/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/broker/sample.h"

#include "service/base/wire.h"

static gboolean
persist (const Request *request, const Request *with, gpointer data, GError **error)
{
  SampleHooks *hooks = data;

  hooks->with = with;
  if (hooks->fails)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE, "no space");
      return FALSE;
    }
  hooks->persisted++;
  hooks->persisted_state = request->state;
  return TRUE;
}

static void
moved (Request *request, RequestState from, gpointer data)
{
  SampleHooks *hooks = data;

  /* What acts on a move must find it kept. */
  g_assert_cmpint (hooks->persisted_state, ==, request->state);
  hooks->moved++;
  hooks->from = from;
}

void
sample_hooks_init (SampleHooks *hooks)
{
  *hooks = (SampleHooks) { .hooks = { persist, moved, hooks } };
}

GVariant *
sample_raw (const char *id, const char *run)
{
  GVariantBuilder arguments;

  g_variant_builder_init (&arguments, G_VARIANT_TYPE ("a(sv)"));
  g_variant_builder_add (&arguments, "(sv)", "text", g_variant_new_string ("hello"));
  return g_variant_new ("(sus(ssss)sa(sv)s(ss))", id, (guint32) SAMPLE_AGENT, "main", run, "ticket",
                        "", "", "note.write", &arguments, "", "", "");
}

static GBytes *
sample_record (const char *run)
{
  g_autoptr (RecordBuilder) builder = record_builder_new ("00000000000000000000000000000000");
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = NULL;

  record_builder_agent (builder, "offboarding", SAMPLE_AGENT, "hr.jones", "main");
  record_builder_run (builder, run, "ticket", NULL, 0);
  record_builder_action (builder, "note.write", "Write a note", "reversible");
  record_builder_argument (builder, "text", "Text", "line", json_tree_new_string ("hello"));
  record_builder_executor (builder, "null", "");
  record_builder_claim (builder, "");
  record_builder_policy (builder, "sha256:"
                                  "0000000000000000000000000000000000000000000000000000000000000000");
  record = record_builder_end (builder, &error);
  g_assert_no_error (error);
  return g_bytes_ref (record_bytes (record));
}

static GVariant *
bytes_variant (gconstpointer data, gsize len)
{
  return g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, data, len, 1);
}

GVariant *
sample_prepared (const char *id, const char *run)
{
  static const guint8 seal[32] = { 7 };
  g_autoptr (GBytes) record = sample_record (run);

  return g_variant_new ("(@" WIRE_REQUEST "@" WIRE_FACTS "@ayt@ay)", sample_raw (id, run),
                        g_variant_new_array (G_VARIANT_TYPE ("(ss)"), NULL, 0),
                        g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, record, TRUE),
                        (guint64) 1000000, bytes_variant (seal, sizeof seal));
}

GVariant *
sample_requirements (void)
{
  static const guint8 first[] = { 1, 2 };
  static const guint8 second[] = { 3 };
  GVariantBuilder people;
  GVariantBuilder credentials;
  GVariantBuilder all;

  g_variant_builder_init (&people, G_VARIANT_TYPE ("a" WIRE_APPROVER));
  g_variant_builder_init (&credentials, G_VARIANT_TYPE ("a" WIRE_CREDENTIAL));
  g_variant_builder_add (&credentials, "(@ayssss)", bytes_variant (first, sizeof first), "phone",
                         "approve.example", "https://approve.example", "phone");
  g_variant_builder_add (&people, "(sua" WIRE_CREDENTIAL ")", "hr.jones", (guint32) SAMPLE_PERSON,
                         &credentials);
  g_variant_builder_init (&credentials, G_VARIANT_TYPE ("a" WIRE_CREDENTIAL));
  g_variant_builder_add (&credentials, "(@ayssss)", bytes_variant (second, sizeof second),
                         "hardware", "undersign:x", "", "key");
  g_variant_builder_add (&people, "(sua" WIRE_CREDENTIAL ")", "it.lead", 3003u, &credentials);

  g_variant_builder_init (&all, G_VARIANT_TYPE ("a" WIRE_REQUIREMENT));
  g_variant_builder_add (&all, "(sua" WIRE_APPROVER ")", "x.rule:note", 1u, &people);
  return g_variant_builder_end (&all);
}

Request *
sample_request (const char *id, const RequestHooks *hooks)
{
  Request *request = request_new (id, SAMPLE_AGENT, hooks);
  g_autoptr (GVariant) prepared = g_variant_ref_sink (sample_prepared (id, SAMPLE_RUN));
  g_autoptr (GVariant) requirements = g_variant_ref_sink (sample_requirements ());
  g_autoptr (GError) error = NULL;

  request_set_prepared (request, prepared, requirements, &error);
  g_assert_no_error (error);
  g_free (request->expires);
  request->expires = g_strdup ("2030-01-01T00:00:00Z");
  return request;
}

static gint warnings;

static GLogWriterOutput
write_quietly (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer data)
{
  if ((level & G_LOG_LEVEL_WARNING) != 0)
    g_atomic_int_inc (&warnings);
  if ((level & (G_LOG_LEVEL_WARNING | G_LOG_LEVEL_MESSAGE | G_LOG_LEVEL_INFO)) != 0 &&
      g_getenv ("G_MESSAGES_DEBUG") == NULL)
    return G_LOG_WRITER_HANDLED;
  return g_log_writer_standard_streams (level, fields, n_fields, data);
}

void
sample_quiet (void)
{
  g_log_set_always_fatal (G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL);
  g_log_set_writer_func (write_quietly, NULL, NULL);
}

guint
sample_warnings (void)
{
  return (guint) g_atomic_int_get (&warnings);
}

void
sample_put (Request *request, RequestState state)
{
  request->state = state;
}
