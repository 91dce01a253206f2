/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the layers below the bus cost in one process. */
#include "config.h"

#include "tests/bench/bench.h"

#include "service/ledger/ledger.h"
#include "service/policy/policy.h"

#include <glib/gstdio.h>
#include <openssl/evp.h>
#include <stdlib.h>

#define AUDIT_ENTRIES 20000
#define SCRATCH "/run/undersign-test/bench" /* in memory: not the disk is measured here */
#define ZERO_DIGEST "sha256:0000000000000000000000000000000000000000000000000000000000000000"

static const Policy *
policy (void)
{
  static const PolicySource source = {
    .data_dir = UNDERSIGN_DATA_DIR,
    .config_dir = UNDERSIGN_CONFIG_DIR,
    .module_dir = UNDERSIGN_MODULE_DIR,
  };
  static Policy *loaded;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) image = NULL;

  if (loaded != NULL)
    return loaded;
  image = policy_snapshot (&source, &error);
  g_assert_no_error (error);
  loaded = policy_parse (image, &policy_names_system, &error);
  g_assert_no_error (error);
  return loaded;
}

/* As the executor makes it: bind and check each argument, build, encode, decode again, digest. */
static Record *
record_make (const PolicyAction *action, GVariant *arguments)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) values = policy_bind_arguments (action, arguments, NULL, 0, &error);
  g_autoptr (RecordBuilder) builder = record_builder_new ("0123456789abcdef0123456789abcdef");
  Record *record = NULL;

  g_assert_no_error (error);
  record_builder_agent (builder, "offboarding", 61184, "hr.jones", "main");
  record_builder_run (builder, "11111111111111111111111111111111", "bench", NULL, 0);
  record_builder_action (builder, action->id, action->summary, "irreversible");
  record_builder_executor (builder, action->module, "");
  for (guint i = 0; i < action->arguments->len; i++)
    {
      const PolicyArgument *argument = g_ptr_array_index (action->arguments, i);

      record_builder_argument (builder, argument->name, argument->label, type_name (argument->type),
                               json_tree_copy (g_ptr_array_index (values, i)));
    }
  for (guint i = 0; i < action->settings->len; i++)
    {
      const PolicySetting *setting = g_ptr_array_index (action->settings, i);

      record_builder_setting (builder, setting->name, setting->label, type_name (setting->type),
                              json_tree_copy (setting->value));
    }
  record_builder_claim (builder, "");
  record_builder_policy (builder, ZERO_DIGEST);
  record = record_builder_end (builder, &error);
  g_assert_no_error (error);
  return record;
}

void
library_record (Series *series)
{
  const PolicyAction *action = policy_action (policy (), BENCH_ACTION);

  g_assert_nonnull (action);
  for (guint i = 0; i < series->n; i++)
    {
      g_autoptr (GVariant) arguments = g_variant_ref_sink (call_arguments ());
      g_autoptr (Record) record = NULL;
      double start;

      series_rest (series);
      start = series_clock ();
      record = record_make (action, arguments);
      series_add (series, start);
    }
}

static Ledger *
ledger_make (void)
{
  g_autoptr (GError) error = NULL;
  Ledger *ledger = NULL;

  g_assert_cmpint (g_mkdir_with_parents (SCRATCH "/state", 0700), ==, 0);
  g_assert_cmpint (g_mkdir_with_parents (SCRATCH "/runtime", 0700), ==, 0);
  ledger = ledger_open (SCRATCH "/state", SCRATCH "/runtime", &error);
  g_assert_no_error (error);
  for (guint i = 0; i < AUDIT_ENTRIES; i++)
    {
      guint8 image[PAE_DIGEST_SIZE] = { (guint8) i, (guint8) (i >> 8) };

      ledger_note_policy (ledger, image, TRUE, &error);
      g_assert_no_error (error);
    }
  return ledger;
}

/* Bytes of all entries. */
static gsize
ledger_bytes (Ledger *ledger)
{
  g_autoptr (GError) error = NULL;
  gsize bytes = 0;
  guint64 next = 1;

  for (;;)
    {
      g_autoptr (GPtrArray) entries = ledger_audit (ledger, next, 500, &error);

      g_assert_no_error (error);
      if (entries->len == 0)
        return bytes;
      for (guint i = 0; i < entries->len; i++)
        {
          const AuditEntry *entry = g_ptr_array_index (entries, i);

          bytes += g_bytes_get_size (entry->entry);
          next = entry->seq + 1;
        }
    }
}

static double
flat_hash (gsize bytes)
{
  g_autofree guint8 *data = g_malloc0 (bytes);
  guint8 digest[EVP_MAX_MD_SIZE];
  double start = series_clock ();

  g_assert_cmpint (EVP_Digest (data, bytes, digest, NULL, EVP_sha256 (), NULL), ==, 1);
  return series_clock () - start;
}

void
library_audit (Series *series)
{
  static Ledger *ledger;
  static gsize bytes;

  if (ledger == NULL)
    {
      ledger = ledger_make ();
      bytes = ledger_bytes (ledger);
    }
  for (guint i = 0; i < series->n; i++)
    {
      g_autoptr (GError) error = NULL;
      guint8 head[PAE_DIGEST_SIZE];
      guint64 count = 0;
      double start = series_clock ();
      double flat;

      ledger_audit_verify (ledger, &count, head, &error);
      series_add (series, start);
      g_assert_no_error (error);
      flat = flat_hash (bytes);
      g_array_append_val (series->more, flat);
    }
}
