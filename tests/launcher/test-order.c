/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a call may ask for, with policy of the test's own and users that every system has. */
#include "service/launcher/order.h"

#include "service/launcher/account.h"
#include "service/launcher/known.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <glib/gstdio.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

static const char agent_file[] = "[Agent]\nSummary=A test\nUser=games\nOwner=man\n";

typedef struct
{
  char *top, *folder, *file;
  PolicySource source;
  uid_t owner, agent;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autofree char *agents = NULL;

  fixture->top = g_dir_make_tmp ("undersign-order-XXXXXX", NULL);
  fixture->folder = g_build_filename (fixture->top, "config", NULL);
  agents = g_build_filename (fixture->folder, "agents", NULL);
  fixture->file = g_build_filename (agents, "games.agent", NULL);
  g_assert_cmpint (g_mkdir_with_parents (agents, 0755), ==, 0);
  g_assert_true (g_file_set_contents_full (fixture->file, agent_file, -1, G_FILE_SET_CONTENTS_NONE,
                                           0644, NULL));
  fixture->source = (PolicySource){ .data_dir = fixture->top,
                                    .config_dir = fixture->folder,
                                    .module_dir = fixture->top,
                                    .owner = getuid () };
  fixture->owner = getpwnam ("man")->pw_uid;
  fixture->agent = getpwnam ("games")->pw_uid;
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_autofree char *agents = g_path_get_dirname (fixture->file);

  g_unlink (fixture->file);
  g_rmdir (agents);
  g_rmdir (fixture->folder);
  g_rmdir (fixture->top);
  g_free (fixture->file);
  g_free (fixture->folder);
  g_free (fixture->top);
}

static Order *
read_order (Fixture *fixture, uid_t caller, const char *text, GError **error)
{
  g_autoptr (GVariant) body =
      g_variant_parse (G_VARIANT_TYPE ("(sasa{sv})"), text, NULL, NULL, NULL);
  g_autoptr (Policy) policy = NULL;

  g_assert_nonnull (body);
  policy = policy_read (&fixture->source, error);
  return policy != NULL ? order_read (policy, body, NULL, caller, error) : NULL;
}

static Order *
ask_order (Fixture *fixture, uid_t caller, const char *text, GError **error)
{
  g_autoptr (GVariant) body =
      g_variant_parse (G_VARIANT_TYPE ("(sasa{sv})"), text, NULL, NULL, NULL);
  g_autoptr (Policy) policy = policy_read (&fixture->source, error);

  return order_ask (policy, body, caller, error);
}

static void
test_accepted (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Order) order = read_order (
      fixture, fixture->owner,
      "('games', ['sh', '-c', 'a\\nb'], {'run': <'ticket 1'>, 'environment': <{'TERM': 'xterm'}>,"
      " 'size': <(uint16 24, uint16 80)>})",
      &error);
  g_autofree char *text = NULL;

  g_assert_no_error (error);
  g_assert_true (order->exists);
  g_assert_true (order->owns);
  g_assert_cmpstr (order->user, ==, "games");
  g_assert_cmpstr (order->owner, ==, "man");
  g_assert_cmpuint (order->ids.agent_uid, ==, fixture->agent);
  g_assert_cmpuint (order->ids.owner_uid, ==, fixture->owner);
  g_assert_cmpuint (order->rows, ==, 24);
  g_assert_cmpstr (order->environment[0], ==, "TERM=xterm");
  text = order_command_text (order);
  g_assert_cmpstr (text, ==, "sh -c 'a\\nb'");
}

/* Whoever is not the owner is not told to be, nor of an agent that is not there. */
static void
test_others (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Order) root = ask_order (fixture, 0, "('games', ['sh'], {})", &error);
  g_autoptr (Order) none = ask_order (fixture, fixture->owner, "('y', ['sh'], {})", &error);
  g_autoptr (Order) agent = NULL, late = NULL;

  g_assert_no_error (error);
  g_assert_false (root->owns);
  g_assert_false (none->owns);
  g_assert_false (none->exists);
  agent = ask_order (fixture, fixture->agent, "('games', ['sh'], {})", &error);
  g_assert_null (agent);
  g_assert_true (us_error_has_reason (error, US_REASON_AGENT_UID));
  g_clear_error (&error);
  late = read_order (fixture, 0, "('y', ['sh'], {})", &error);
  g_assert_null (late);
  g_assert_true (us_error_has_reason (error, US_REASON_NOT_FOUND));
}

/* Before polkit has said yes, nothing but policy is read: no option, no account. */
static void
test_asked (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Order) order = NULL;

  g_assert_true (g_file_set_contents_full (fixture->file,
                                           "[Agent]\nSummary=A test\nUser=sync\nOwner=man\n", -1,
                                           G_FILE_SET_CONTENTS_NONE, 0644, NULL));
  order = ask_order (fixture, 0, "('games', ['sh'], {'user': <'root'>})", &error);
  g_assert_no_error (error);
  g_assert_true (order->exists);
  g_assert_null (order->user);
  g_assert_null (order->home);
  g_assert_null (order->shares);
}

/* The owner was asked nothing; who is that no more has to be asked for another's. */
static void
test_given_away (Fixture *fixture, gconstpointer data)
{
  const Order own = { .owns = TRUE }, other = { .owns = FALSE };
  g_autoptr (GError) error = NULL;

  g_assert_true (order_was_asked (&own, &own, NULL));
  g_assert_true (order_was_asked (&other, &other, NULL));
  g_assert_true (order_was_asked (&own, &other, NULL));
  g_assert_false (order_was_asked (&other, &own, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_DENIED_BY_RULE));
}

static void
test_refused (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    const char *text, *reason;
  } cases[] = {
    { "('games', [], {})", US_REASON_MISSING_ARGUMENT },
    { "('games', [''], {})", US_REASON_BAD_VALUE },
    { "('games', ['..'], {})", US_REASON_BAD_VALUE },
    { "('games', ['./sh'], {})", US_REASON_BAD_VALUE },
    { "('games', ['/bin/'], {})", US_REASON_BAD_VALUE },
    { "('games', ['+sh'], {})", US_REASON_BAD_VALUE },
    { "('games', ['@sh'], {})", US_REASON_BAD_VALUE },
    { "('games', ['/bin/sh +x'], {})", US_REASON_BAD_VALUE },
    { "('games', ['/bin/sh\\n'], {})", US_REASON_BAD_VALUE },
    { "('games', ['a b'], {})", US_REASON_BAD_VALUE },
    { "('', ['sh'], {})", US_REASON_BAD_VALUE },
    { "('games', ['sh'], {'user': <'root'>})", US_REASON_UNKNOWN_OPTION },
    { "('games', ['sh'], {'run': <'a'>, 'run': <'b'>})", US_REASON_DUPLICATE_ARGUMENT },
    { "('games', ['sh'], {'run': <1>})", US_REASON_WRONG_TYPE },
    { "('games', ['sh'], {'run': <'a\\nb'>})", US_REASON_BAD_VALUE },
    { "('games', ['sh'], {'part': <''>})", US_REASON_BAD_VALUE },
    { "('games', ['sh'], {'close-run': <''>})", US_REASON_BAD_VALUE },
    { "('games', ['sh'], {'close-run': <'launch-1'>})", US_REASON_BAD_VALUE },
    { "('games', ['sh'], {'close-run': <'0123456789ABCDEF0123456789ABCDEF'>})", US_REASON_BAD_VALUE },
    { "('games', ['sh'], {'close-run': <'0123456789abcdef0123456789abcdef0'>})", US_REASON_BAD_VALUE },
    { "('games', ['sh'], {'close-run': <['0123456789abcdef0123456789abcdef']>})", US_REASON_WRONG_TYPE },
    { "('games', ['sh'], {'environment': <{'PATH': 'x'}>})", US_REASON_UNKNOWN_OPTION },
    { "('games', ['sh'], {'environment': <{'LANG': ''}>})", US_REASON_BAD_VALUE },
    { "('games', ['sh'], {'environment': <{'LANG': 'a=b'}>})", US_REASON_BAD_VALUE },
    { "('games', ['sh'], {'environment': <{'TERM': 'a', 'TERM': 'b'}>})",
      US_REASON_DUPLICATE_ARGUMENT },
    { "('games', ['sh'], {'directory': <'/'>})", US_REASON_BAD_VALUE },
    { "('games', ['sh'], {'size': <(uint16 1, uint16 1001)>})", US_REASON_BAD_VALUE },
    { "('games', ['sh'], {'shares': <[(@h 0, 'read-only')]>})", US_REASON_BAD_HANDLE },
    { "('games', ['sh'], {'shares': <[(@h 0, 'all')]>})", US_REASON_BAD_VALUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (Order) order = read_order (fixture, fixture->owner, cases[i].text, &error);

      g_test_message ("%s: %s", cases[i].text, error != NULL ? error->message : "accepted");
      g_assert_null (order);
      g_assert_true (us_error_has_reason (error, cases[i].reason));
    }
}

/* A file that names somebody else's user, whoever calls. */
static void
test_accounts (Fixture *fixture, gconstpointer data)
{
  static const char *const users[] = { "sync", "_apt", "www-data" };

  for (guint i = 0; i < G_N_ELEMENTS (users); i++)
    {
      g_autofree char *text =
          g_strdup_printf ("[Agent]\nSummary=A test\nUser=%s\nOwner=man\n", users[i]);
      g_autoptr (GError) error = NULL;
      g_autoptr (Order) order = NULL;

      if (getpwnam (users[i]) == NULL)
        continue;
      g_assert_true (
          g_file_set_contents_full (fixture->file, text, -1, G_FILE_SET_CONTENTS_NONE, 0644, NULL));
      order = read_order (fixture, fixture->owner, "('games', ['sh'], {})", &error);
      g_assert_true (order == NULL || order_look (order, "", &error) == -1);
      g_assert_true (us_error_has_reason (error, US_REASON_IDENTITY));
    }
}

/* No directory of users but by the child: where the group is another's is no matter before. */
static void
test_account_is_looked_at (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Order) order = NULL;

  g_assert_true (g_file_set_contents_full (fixture->file,
                                           "[Agent]\nSummary=A test\nUser=sync\nOwner=man\n", -1,
                                           G_FILE_SET_CONTENTS_NONE, 0644, NULL));
  order = read_order (fixture, fixture->owner, "('games', ['sh'], {})", &error);
  g_assert_no_error (error);
  g_assert_cmpint (order_look (order, "", &error), ==, -1);
  g_assert_true (us_error_has_reason (error, US_REASON_IDENTITY));
}

static void
assert_account (const char *user, const char *prefix, const char *agent, const char *why)
{
  g_autoptr (GError) error = NULL;
  const struct passwd *entry = getpwnam (user);
  gboolean good = FALSE;

  if (entry == NULL)
    return;
  good = account_check (entry->pw_uid, 12345, prefix, agent, &error);
  g_test_message ("%s: %s", user, error != NULL ? error->message : "good");
  g_assert_cmpint (good, ==, why == NULL);
  g_assert_true (why == NULL || (us_error_has_reason (error, US_REASON_IDENTITY) &&
                                 strstr (error->message, why) != NULL));
}

/* It has a shell of a kind, its group is not its own, or it is a service's, for all that is seen.
 */
static void
test_users (void)
{
  assert_account ("games", "", "games", NULL);
  assert_account ("games", "ga", "mes", NULL);
  assert_account ("games", "agent-", "games", "neither called agent-");
  assert_account ("www-data", "agent-", "web", "neither called agent-");
  assert_account ("sync", "", "sync", "shell");
  assert_account ("_apt", "", "_apt", "group");
  assert_account ("root", "", "root", "root");
}

static void
test_share_of_another (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Order) order =
      read_order (fixture, 0, "('games', ['sh'], {'shares': <[(@h 0, 'read-only')]>})", &error);

  g_assert_null (order);
  g_assert_true (us_error_has_reason (error, US_REASON_BAD_SHARE));
}

static void
test_too_large (Fixture *fixture, gconstpointer data)
{
  g_autofree char *word = g_strnfill (ORDER_COMMAND_BYTES_MAX, 'x');
  g_autofree char *long_word = g_strdup_printf ("('games', ['sh', '%s'], {})", word);
  g_autoptr (GString) words = g_string_new ("('games', ['sh'");
  const char *texts[] = { long_word, NULL };

  for (guint i = 0; i < ORDER_COMMAND_WORDS_MAX; i++)
    g_string_append (words, ", ''");
  g_string_append (words, "], {})");
  texts[1] = words->str;
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (Order) order = read_order (fixture, fixture->owner, texts[i], &error);

      g_assert_null (order);
      g_assert_true (us_error_has_reason (error, US_REASON_TOO_LARGE));
    }
}

static char *
command_text (const char *first, const char *second)
{
  const char *words[] = { "sh", "-c", first, second, NULL };
  const Order order = { .command = (char **) words };

  return order_command_text (&order);
}

/* What is asked is all of it, or says that it is not: each word is seen to end where it does. */
static void
test_command_text (void)
{
  static const struct
  {
    const char *first, *second, *text;
  } cases[] = {
    { "true", NULL, "sh -c true" },
    { "a b", "c", "sh -c 'a b' c" },
    { "a", "b c", "sh -c a 'b c'" },
    { "", "x;y", "sh -c '' 'x;y'" },
    { "it's", "\033[2K", "sh -c 'it'\\''s' '\\033[2K'" },
    { "\303\251", "\\", "sh -c '\\303\\251' '\\\\'" },
  };
  g_autofree char *full = g_strnfill (194, 'x'), *harmless = g_strnfill (200, ' ');
  g_autofree char *script = g_strconcat (harmless, "; evil", NULL);
  g_autofree char *whole = command_text (full, NULL), *more = command_text (full, "y");
  g_autofree char *cut = command_text (script, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = command_text (cases[i].first, cases[i].second);

      g_assert_cmpstr (text, ==, cases[i].text);
    }
  g_assert_cmpuint (strlen (whole), ==, 200);
  g_assert_true (g_str_has_suffix (whole, "x"));
  g_assert_true (g_str_has_suffix (more, "x... (2 more characters not shown)"));
  g_assert_true (g_str_has_prefix (cut, "sh -c '   "));
  g_assert_true (g_str_has_suffix (cut, " ... (14 more characters not shown)"));
}

#define add(name, function)                                                                        \
  g_test_add ("/launcher-order/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add ("accepted", test_accepted);
  add ("others", test_others);
  add ("asked", test_asked);
  add ("given-away", test_given_away);
  add ("refused", test_refused);
  add ("accounts", test_accounts);
  add ("account-is-looked-at", test_account_is_looked_at);
  g_test_add_func ("/launcher-order/users", test_users);
  add ("share-of-another", test_share_of_another);
  add ("too-large", test_too_large);
  g_test_add_func ("/launcher-order/command-text", test_command_text);
  return g_test_run ();
}
