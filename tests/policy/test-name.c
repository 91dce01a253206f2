/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names: one table of what each predicate refuses and takes. */
#include "service/policy/name.h"

typedef gboolean (*Predicate) (const char *);

static const struct
{
  Predicate predicate;
  const char *text;
  gboolean valid;
} rows[] = {
  { name_is_action_id, "", FALSE },
  { name_is_action_id, "mail", FALSE },
  { name_is_action_id, "mail.", FALSE },
  { name_is_action_id, ".send", FALSE },
  { name_is_action_id, "mail..send", FALSE },
  { name_is_action_id, "Mail.send", FALSE },
  { name_is_action_id, "mail.Send", FALSE },
  { name_is_action_id, "ma-il.send", FALSE },
  { name_is_action_id, "mail.-send", FALSE },
  { name_is_action_id, "mail.1send", FALSE },
  { name_is_action_id, "1mail.send", FALSE },
  { name_is_action_id, "mail/send", FALSE },
  { name_is_action_id, "mail.send/..", FALSE },
  { name_is_action_id, "mail.send ", FALSE },
  { name_is_action_id, "mail.*", FALSE },
  { name_is_action_id, "mail.se\nnd", FALSE },
  { name_is_action_id, "mail.send", TRUE },
  { name_is_action_id, "a.b", TRUE },
  { name_is_action_id, "org2.mail.send-later", TRUE },
  { name_is_action_prefix, "", FALSE },
  { name_is_action_prefix, "mail.", FALSE },
  { name_is_action_prefix, "mail", TRUE },
  { name_is_action_prefix, "mail.send", TRUE },
  { name_is_plain, "", FALSE },
  { name_is_plain, "-a", FALSE },
  { name_is_plain, "1a", FALSE },
  { name_is_plain, "a_b", FALSE },
  { name_is_plain, "a.b", FALSE },
  { name_is_plain, "A", FALSE },
  { name_is_plain, "a-1", TRUE },
  { name_is_module, "abcdefghijklmnopqrstu", FALSE },
  { name_is_module, "../x", FALSE },
  { name_is_module, "abcdefghijklmnopqrst", TRUE },
  { name_is_member, "a b", FALSE },
  { name_is_member, "_a", FALSE },
  { name_is_member, "a_b-1", TRUE },
  { name_is_setting, "reply_to", FALSE },
  { name_is_setting, "reply--to", FALSE },
  { name_is_setting, "reply-", FALSE },
  { name_is_setting, "reply-2to", FALSE },
  { name_is_setting, "reply-to2", TRUE },
  { name_is_credential, "", FALSE },
  { name_is_credential, ".", FALSE },
  { name_is_credential, "..", FALSE },
  { name_is_credential, "a..b", FALSE },
  { name_is_credential, "a/b", FALSE },
  { name_is_credential, "Work", FALSE },
  { name_is_credential, "work-smtp.1", TRUE },
  { name_is_user, "", FALSE },
  { name_is_user, "1003", FALSE },
  { name_is_user, "-rf", FALSE },
  { name_is_user, "@hr", FALSE },
  { name_is_user, "fact:x", FALSE },
  { name_is_user, "a b", FALSE },
  { name_is_user, "hr.jones", TRUE },
  { name_is_user, "Kim_2@example.com", TRUE },
  { name_is_user, "1003x", TRUE },
  { name_is_service_user, "undersigned", FALSE },
  { name_is_service_user, "alice", FALSE },
  { name_is_service_user, "undersign", TRUE },
  { name_is_service_user, "undersign-mail", TRUE },
};

static void
test_rows (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].predicate (rows[i].text) != rows[i].valid)
      g_error ("row %u: '%s'", i, rows[i].text);
}

static void
test_length (void)
{
  g_autofree char *plain = g_strnfill (NAME_MAX_PLAIN, 'a');
  g_autofree char *longer = g_strnfill (NAME_MAX_PLAIN + 1, 'a');
  g_autofree char *filler = g_strnfill (NAME_MAX_ACTION - 2, 'a');
  g_autofree char *action = g_strconcat ("a.", filler, NULL);
  g_autofree char *long_action = g_strconcat (action, "a", NULL);

  g_assert_true (name_is_plain (plain));
  g_assert_false (name_is_plain (longer));
  g_assert_true (name_is_action_id (action));
  g_assert_false (name_is_action_id (long_action));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/name/rows", test_rows);
  g_test_add_func ("/policy/name/length", test_length);
  return g_test_run ();
}
