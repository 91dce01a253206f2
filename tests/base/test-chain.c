/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The two ways in which an entry is read: what the quick one takes the strict one takes, too, and
 * both leave the same chain behind.
 */
#include "service/base/chain.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/chain-scan.h"

#include <string.h>

#define PREVIOUS "sha256:00000000000000000000000000000000000000000000000000000000000000ff"
#define TIME "2026-11-30T09:00:00Z"
#define LEDGER "{\"ledger\":\"c0ffee00c0ffee00c0ffee00c0ffee00\"}"

/* Places in an entry; what is NULL is as it should be. */
typedef struct
{
  const char *what;
  const char *details, *event, *previous, *seq, *source, *time, *after;
  gboolean valid; /* to the strict reader */
  gboolean quick; /* to the quick one */
} Case;

static const Case cases[] = {
  { .what = "plain", .valid = TRUE, .quick = TRUE },
  { .what = "details", .details = "{\"a\":\"1\",\"ab\":\"\",\"b\":true,\"c\":false}",
    .valid = TRUE, .quick = TRUE },
  { .what = "largest number", .seq = "9223372036854775807", .valid = TRUE, .quick = TRUE },
  { .what = "empty event", .event = "", .valid = TRUE, .quick = TRUE },
  /* right, but left to the strict reader */
  { .what = "escape", .details = "{\"a\":\"\\n\"}", .valid = TRUE },
  { .what = "quote in a name", .details = "{\"a\\\"\":\"1\"}", .valid = TRUE },
  { .what = "not ASCII", .details = "{\"a\":\"\303\244\"}", .valid = TRUE },
  { .what = "delete", .details = "{\"a\":\"\177\"}", .valid = TRUE },
  { .what = "array", .details = "{\"a\":[\"1\"]}", .valid = TRUE },
  { .what = "made", .details = LEDGER, .event = "created", .valid = TRUE },
  { .what = "pruned", .details = LEDGER, .event = "pruned", .valid = TRUE },
  { .what = "long event", .valid = TRUE,
    .event = "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee" },
  /* wrong */
  { .what = "name twice", .details = "{\"a\":\"1\",\"a\":\"2\"}" },
  { .what = "names out of order", .details = "{\"b\":\"1\",\"a\":\"2\"}" },
  { .what = "shorter name later", .details = "{\"ab\":\"1\",\"a\":\"2\"}" },
  { .what = "comma too many", .details = "{\"a\":\"1\",}" },
  { .what = "no comma", .details = "{\"a\":\"1\";\"b\":\"1\"}" },
  { .what = "no colon", .details = "{\"a\"=\"1\"}" },
  { .what = "no value", .details = "{\"a\":}" },
  { .what = "space", .details = "{ }" },
  { .what = "control character", .details = "{\"a\":\"\001\"}" },
  { .what = "needless escape", .details = "{\"a\":\"\\u0041\"}" },
  { .what = "not UTF-8", .details = "{\"a\":\"\377\"}" },
  { .what = "no object", .details = "\"\"" },
  { .what = "number", .details = "{\"a\":1}" },
  { .what = "null", .details = "{\"a\":null}" },
  { .what = "null inside", .details = "{\"a\":[\"1\",{\"b\":null}]}" },
  { .what = "short digest", .previous = "sha256:00" },
  { .what = "upper-case digest",
    .previous = "sha256:00000000000000000000000000000000000000000000000000000000000000FF" },
  { .what = "leading zero", .seq = "01" },
  { .what = "zero", .seq = "0" },
  { .what = "too large", .seq = "9223372036854775808" },
  { .what = "sign", .seq = "+1" },
  { .what = "no number", .seq = "" },
  { .what = "source", .source = "agent" },
  { .what = "no source", .source = "" },
  { .what = "no such day", .time = "2026-02-30T09:00:00Z" },
  { .what = "no such hour", .time = "2026-11-30T24:00:00Z" },
  { .what = "offset", .time = "2026-11-30T09:00:00+1" },
  { .what = "something after", .after = " " },
  { .what = "another after", .after = "{}" },
};

static const char *
or_else (const char *given, const char *usual)
{
  return given != NULL ? given : usual;
}

static GBytes *
entry_new (const Case *of)
{
  char *text = g_strdup_printf (
      "{\"details\":%s,\"event\":\"%s\",\"format\":\"undersign.audit/1\",\"previous\":\"%s\","
      "\"seq\":\"%s\",\"source\":\"%s\",\"time\":\"%s\"}%s",
      or_else (of->details, "{}"), or_else (of->event, "halted"), or_else (of->previous, PREVIOUS),
      or_else (of->seq, "7"), or_else (of->source, AUDIT_ADMIN), or_else (of->time, TIME),
      or_else (of->after, ""));

  return g_bytes_new_take (text, strlen (text));
}

static void
assert_same (const Chain *a, const Chain *b)
{
  g_assert_cmpuint (a->seq, ==, b->seq);
  g_assert_cmpuint (a->start, ==, b->start);
  g_assert_cmpmem (a->head, sizeof a->head, b->head, sizeof b->head);
  g_assert_cmpmem (a->start_head, sizeof a->start_head, b->start_head, sizeof b->start_head);
  g_assert_true (a->begun == b->begun && a->explained == b->explained);
  g_assert_cmpstr (a->ledger, ==, b->ledger);
}

static void
test_both_ways (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) entry = entry_new (&cases[i]);
      g_autoptr (GError) error = NULL;
      g_autoptr (GError) other_error = NULL;
      g_autoptr (JsonTree) tree = NULL;
      guint8 previous[PAE_DIGEST_SIZE];
      Chain chain = { 0 };
      Chain other = { 0 };
      guint64 seq = 0;
      gsize len = 0;
      const char *text = g_bytes_get_data (entry, &len);

      g_test_message ("%s", cases[i].what);
      g_assert_cmpint (chain_scan (text, len, &seq, previous) && seq > 0, ==, cases[i].quick);
      g_assert_cmpint (chain_add (&chain, entry, &tree, &error), ==, cases[i].valid);
      g_assert_cmpint (chain_add (&other, entry, NULL, &other_error), ==, cases[i].valid);
      assert_same (&chain, &other);
      if (cases[i].valid)
        continue;
      g_assert_true (us_error_has_reason (error, US_REASON_CHAIN));
      g_assert_cmpstr (error->message, ==, other_error->message);
    }
}

/* Whatever is missing at the end, and whatever byte is another. */
static void
test_cut_and_changed (void)
{
  g_autoptr (GBytes) entry = entry_new (&cases[1]);
  gsize len = 0;
  const char *text = g_bytes_get_data (entry, &len);
  guint8 previous[PAE_DIGEST_SIZE];
  guint64 seq = 0;

  for (gsize i = 0; i < len; i++)
    {
      g_autofree char *changed = g_memdup2 (text, len);
      g_autoptr (GBytes) bytes = NULL;

      g_assert_false (chain_scan (text, i, &seq, previous));
      for (guint bit = 0; bit < 8; bit++)
        {
          changed[i] = (char) (text[i] ^ (1 << bit));
          g_clear_pointer (&bytes, g_bytes_unref);
          bytes = g_bytes_new (changed, len);
          if (chain_scan (changed, len, &seq, previous))
            {
              g_autoptr (JsonTree) tree = chain_entry_parse (bytes, NULL);

              g_assert_nonnull (tree);
            }
        }
    }
}

static void
test_details_at_most (void)
{
  for (guint n = CHAIN_DETAILS_MAX; n <= CHAIN_DETAILS_MAX + 1; n++)
    {
      g_autoptr (GString) details = g_string_new ("{");
      g_autoptr (GBytes) entry = NULL;
      Case of = { .what = "many" };
      Chain chain = { 0 };
      gsize len = 0;
      const char *text = NULL;
      guint8 previous[PAE_DIGEST_SIZE];
      guint64 seq = 0;

      for (guint i = 0; i < n; i++)
        g_string_append_printf (details, "%s\"k%03u\":\"\"", i > 0 ? "," : "", i);
      g_string_append_c (details, '}');
      of.details = details->str;
      entry = entry_new (&of);
      text = g_bytes_get_data (entry, &len);
      g_assert_cmpint (chain_scan (text, len, &seq, previous), ==, n == CHAIN_DETAILS_MAX);
      g_assert_cmpint (chain_add (&chain, entry, NULL, NULL), ==, n == CHAIN_DETAILS_MAX);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/chain/both-ways", test_both_ways);
  g_test_add_func ("/base/chain/cut-and-changed", test_cut_and_changed);
  g_test_add_func ("/base/chain/details-at-most", test_details_at_most);
  return g_test_run ();
}
