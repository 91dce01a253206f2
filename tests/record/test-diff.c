/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* No change of a record goes without a difference. */
#include "service/record/diff.h"

#include "tests/record/sample.h"

#include <string.h>

/* The sample with one change: the paths that differ, joined by spaces. */
static const struct
{
  const char *from, *to, *paths;
} changes[] = {
  { "Send an e-mail", "Send mail", "action/summary" },
  { "mail.send", "mail.post", "action/id" },
  { "irreversible", "read", "action/effect" },
  { "\"name\":\"offboarding\"", "\"name\":\"other\"", "agent/name" },
  { "61184", "61185", "agent/uid" },
  { "licences", "main", "agent/part" },
  { "hr.jones", "hr.smith", "agent/owner" },
  { "ticket-4711", "ticket-4712", "run/label" },
  { SAMPLE_RUN, SAMPLE_HOST, "run/id" },
  { "hr.kim", "hr.kay", "run/initiator/name" },
  { "\"initiator\":{\"name\":\"hr.kim\",\"uid\":\"1003\"},", "",
    "run/initiator/name run/initiator/uid" },
  { "\"host\":\"00", "\"host\":\"11", "host" },
  { "\"value\":[]", "\"value\":[\"boss@example.com\"]", "arguments/bcc" },
  { "\"label\":\"Bcc\"", "\"label\":\"Blind\"", "arguments/bcc/label" },
  { "\"type\":\"email\",", "\"type\":\"line\",", "settings/from/type" },
  { "\"type\":\"email-list\",\"value\":[]", "\"type\":\"line\",\"value\":\"\"",
    "arguments/bcc arguments/bcc/type" },
  { "\"name\":\"bcc\"", "\"name\":\"cc\"", "arguments/cc arguments/bcc" },
  { "{\"label\":\"Bcc\",\"name\":\"bcc\",\"type\":\"email-list\",\"value\":[]},", "",
    "arguments/bcc" },
  { "\"sha256\":\"ff", "\"sha256\":\"fe", "arguments/attachment" },
  { "first time", "second time", "facts/known" },
  { "\"recheck\":false", "\"recheck\":true", "facts/known/recheck" },
  { "\"module\":\"mail\"", "\"module\":\"null\"", "executor/module" },
  { "work-smtp", "", "executor/credential" },
  { ":587", ":25", "settings/server" },
  { "\"policy\":\"sha256:00", "\"policy\":\"sha256:11", "policy" },
  { "The manager", "Nobody", "claim" },
  { "\"claim\":\"The manager asked for it.\",", "", "claim" },
  { "{\"label\":\"Server\",\"name\":\"server\",\"type\":\"hostport\",\"value\":\"smtp.example.com:"
    "587\"},{\"label\":\"From\",\"name\":\"from\",\"type\":\"email\",\"value\":\"offboarding@"
    "example"
    ".com\"}",
    "{\"label\":\"From\",\"name\":\"from\",\"type\":\"email\",\"value\":\"offboarding@example."
    "com\"},"
    "{\"label\":\"Server\",\"name\":\"server\",\"type\":\"hostport\",\"value\":\"smtp.example.com:"
    "587\"}",
    "settings" },
};

static void
test_changes (void)
{
  g_autoptr (Record) older = sample_record ();

  for (gsize i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      g_autoptr (GBytes) bytes = sample_replace (changes[i].from, changes[i].to);
      g_autoptr (GError) error = NULL;
      g_autoptr (Record) newer = record_decode (bytes, &error);
      g_autoptr (GPtrArray) differences = NULL;
      g_autoptr (GString) paths = g_string_new (NULL);

      g_assert_no_error (error);
      differences = record_diff (older, newer);
      for (guint j = 0; j < differences->len; j++)
        {
          const Difference *difference = g_ptr_array_index (differences, j);

          g_string_append_printf (paths, "%s%s", j > 0 ? " " : "", difference->path);
          g_assert_true ((difference->old_value == NULL) == (difference->old_type[0] == '\0'));
          g_assert_true ((difference->new_value == NULL) == (difference->new_type[0] == '\0'));
          g_assert_true (difference->old_value != NULL || difference->new_value != NULL);
        }
      g_assert_cmpstr (paths->str, ==, changes[i].paths);
    }
}

static void
test_types_of_both_sides (void)
{
  g_autoptr (Record) older = sample_record ();
  g_autoptr (GBytes) bytes =
      sample_replace ("\"type\":\"email-list\",\"value\":[]", "\"type\":\"line\",\"value\":\"\"");
  g_autoptr (Record) newer = record_decode (bytes, NULL);
  g_autoptr (GPtrArray) differences = record_diff (older, newer);
  const Difference *first = g_ptr_array_index (differences, 0);

  g_assert_cmpstr (first->old_type, ==, "email-list");
  g_assert_cmpstr (first->new_type, ==, "line");
  g_assert_cmpstr (first->label, ==, "Bcc");
}

static void
test_none (void)
{
  g_autoptr (Record) a = sample_record ();
  g_autoptr (Record) b = sample_record ();
  g_autoptr (GPtrArray) differences = record_diff (a, b);

  g_assert_cmpuint (differences->len, ==, 0);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/diff/changes", test_changes);
  g_test_add_func ("/diff/types-of-both-sides", test_types_of_both_sides);
  g_test_add_func ("/diff/none", test_none);
  return g_test_run ();
}
