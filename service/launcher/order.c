/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads what is to be started.  Called by launcher.c before polkit is asked, for the question, and
 * from the top again after it, for what is done.  The owner is the one of the agent's file; no word
 * of the caller says who he is.
 */
#include "service/launcher/order.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/base/fd.h"
#include "service/launcher/account.h"
#include "service/launcher/place.h"
#include "service/mechanism/option.h"

#include <pwd.h>
#include <string.h>

#define SIZE_MAX_CELLS 1000
#define RUN_MAX 200
#define AGENT_MAX 64
#define TEXT_MAX 200 /* of a command, for a person */

static const char *const variables[] = { "COLORTERM", "LANG", "LC_ALL", "TERM", NULL };

enum
{
  OPTION_RUN,
  OPTION_PART,
  OPTION_CLOSE_RUN,
  OPTION_ENVIRONMENT,
  OPTION_SHARES,
  OPTION_DIRECTORY,
  OPTION_SIZE,
  OPTION_N,
};

static const OptionSpec options[OPTION_N] = {
  [OPTION_RUN] = { "run", "s", FALSE },
  [OPTION_PART] = { "part", "s", FALSE },
  [OPTION_CLOSE_RUN] = { "close-run", "s", FALSE },
  [OPTION_ENVIRONMENT] = { "environment", "a{ss}", FALSE },
  [OPTION_SHARES] = { "shares", "a(hs)", FALSE },
  [OPTION_DIRECTORY] = { "directory", "s", FALSE },
  [OPTION_SIZE] = { "size", "(qq)", FALSE },
};

void
order_free (Order *order)
{
  if (order == NULL)
    return;
  g_free (order->agent);
  g_free (order->user);
  g_free (order->owner);
  g_free (order->home);
  g_strfreev (order->command);
  g_strfreev (order->environment);
  g_free (order->run);
  g_free (order->part);
  g_free (order->close_run);
  g_free (order->directory);
  g_clear_pointer (&order->shares, g_ptr_array_unref);
  g_free (order);
}

static gboolean
refuse (GError **error, const char *text)
{
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE, "%s", text);
}

/* --- who --- */

static gboolean
find_user (uid_t uid, gid_t *out_gid, char **out_name, char **out_home, GError **error)
{
  g_autofree char *buffer = NULL;
  struct passwd entry;

  if (!account_read (uid, &entry, &buffer, error))
    return FALSE;
  if (entry.pw_gid == 0)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_IDENTITY, "%s has the group of root",
                         entry.pw_name);
  *out_gid = entry.pw_gid;
  if (out_name != NULL)
    *out_name = g_strdup (entry.pw_name);
  *out_home = g_strdup (entry.pw_dir);
  return TRUE;
}

static gboolean
find_agent (const Policy *policy, const char *name, uid_t caller, Order *order, GError **error)
{
  const PolicyAgent *agent = policy_agent_by_name (policy, name);

  if (policy_agent_by_uid (policy, caller) != NULL)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_AGENT_UID,
                         "an agent starts nothing as another");
  order->exists = agent != NULL;
  order->agent = g_strdup (name);
  if (agent == NULL)
    return line_check ("agent", name, AGENT_MAX, error);
  order->ids.agent_uid = agent->uid;
  order->ids.owner_uid = agent->owner_uid;
  order->owns = agent->owner_uid == caller;
  order->owner = g_strdup (agent->owner);
  order->limits = agent->launch;
  return TRUE;
}

static gboolean
find_users (Order *order, GError **error)
{
  g_autofree char *agent_home = NULL;

  if (!order->exists)
    return us_error_set (error, US_ERROR_NOT_FOUND, US_REASON_NOT_FOUND, "there is no such agent");
  return find_user (order->ids.agent_uid, &order->ids.agent_gid, &order->user, &agent_home,
                    error) &&
         find_user (order->ids.owner_uid, &order->ids.owner_gid, NULL, &order->home, error);
}

/* --- what --- */

/*
 * An absolute path, or a name to be found among the system's programs.  systemd escapes the other
 * words and the environment in the file of the unit, but reads signs before this one as its own.
 */
static gboolean
check_program (const char *word, GError **error)
{
  g_autofree char *path = word[0] != '/' ? g_strconcat ("/", word, NULL) : g_strdup (word);
  g_autofree char *flaw = path_flaw (path);

  if (flaw != NULL)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "the command's program %s", flaw);
  if (word[0] != '\0' && strchr ("-@+!|", word[0]) != NULL)
    return refuse (error, "the command begins with a sign that systemd takes for its own");
  if (word[0] == '\0' || strcmp (word, ".") == 0 || strcmp (word, "..") == 0 ||
      g_str_has_suffix (word, "/"))
    return refuse (error, "the command is not the name of a program");
  if (word[0] != '/' && strchr (word, '/') != NULL)
    return refuse (error, "the command is a name or an absolute path");
  return TRUE;
}

static gboolean
read_command (GVariant *words, Order *order, GError **error)
{
  gsize bytes = 0;

  order->command = g_variant_dup_strv (words, NULL);
  if (order->command[0] == NULL)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_MISSING_ARGUMENT,
                         "there is no command");
  for (guint i = 0; order->command[i] != NULL; i++)
    {
      bytes += strlen (order->command[i]) + 1;
      if (i >= ORDER_COMMAND_WORDS_MAX || bytes > ORDER_COMMAND_BYTES_MAX)
        return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                             "the command has more than %d words or %d bytes",
                             ORDER_COMMAND_WORDS_MAX, ORDER_COMMAND_BYTES_MAX);
    }
  return check_program (order->command[0], error);
}

static gboolean
read_run (GVariant *run, GVariant *part, Order *order, GError **error)
{
  if (run != NULL)
    {
      order->run = g_variant_dup_string (run, NULL);
      if (!line_check ("run", order->run, RUN_MAX, error))
        return FALSE;
    }
  if (part != NULL)
    {
      order->part = g_variant_dup_string (part, NULL);
      if (!line_check ("part", order->part, RUN_MAX, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_close_run (GVariant *given, Order *order, GError **error)
{
  order->close_run = given != NULL ? g_variant_dup_string (given, NULL) : NULL;
  return order->close_run == NULL || id_is_valid (order->close_run) ||
         refuse (error, "close-run is the id of a run: 32 lower-case hex digits");
}

static gboolean
read_environment (GVariant *given, Order *order, GError **error)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  const gsize n = given != NULL ? g_variant_n_children (given) : 0;

  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) entry = g_variant_get_child_value (given, i);
      g_autofree char *pair = NULL;
      const char *name = NULL, *value = NULL;

      g_variant_get (entry, "{&s&s}", &name, &value);
      if (!g_strv_contains (variables, name))
        return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_OPTION,
                             "only COLORTERM, LANG, LC_ALL and TERM go with a command");
      if (!g_hash_table_add (seen, (gpointer) name))
        return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_DUPLICATE_ARGUMENT,
                             "%s is given twice", name);
      if (value[0] == '\0' || strlen (value) > 64 ||
          strspn (value, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "._@+:-") != strlen (value))
        return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                             "the value of %s has 1 to 64 letters, digits and ._@+:-", name);
      pair = g_strconcat (name, "=", value, NULL);
      g_strv_builder_add (builder, pair);
    }
  order->environment = g_strv_builder_end (builder);
  return TRUE;
}

/* --- shares --- */

static gboolean
read_share (GVariant *entry, GUnixFDList *fds, Order *order, GError **error)
{
  g_autoptr (Share) share = NULL;
  ShareAccess access = SHARE_READ_ONLY;
  const char *word = NULL;
  gint32 handle = -1;
  int fd = -1;

  g_variant_get (entry, "(h&s)", &handle, &word);
  if (!share_access_parse (word, &access))
    return refuse (error, "a share is read-only, read-write or read-write-git");
  if (fds == NULL || handle < 0 || handle >= g_unix_fd_list_get_length (fds))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_HANDLE,
                         "a share has no descriptor of its own");
  fd = g_unix_fd_list_get (fds, handle, NULL);
  if (fd < 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "too many files");
  share = share_new (fd, access, error);
  if (share == NULL)
    return FALSE;
  for (guint i = 0; i < order->shares->len; i++)
    if (!share_is_apart (share, g_ptr_array_index (order->shares, i)))
      return us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_SHARE,
                           "%s is in another share, or another is in it", share->path);
  g_ptr_array_add (order->shares, g_steal_pointer (&share));
  return TRUE;
}

static gboolean
read_shares (GVariant *given, GUnixFDList *fds, Order *order, GError **error)
{
  const gsize n = given != NULL ? g_variant_n_children (given) : 0;

  order->shares = g_ptr_array_new_with_free_func ((GDestroyNotify) share_free);
  if (n > SHARES_MAX || (fds != NULL && (gsize) g_unix_fd_list_get_length (fds) != n))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_HANDLE,
                         "at most %d shares, each with one descriptor", SHARES_MAX);
  if (n > 0 && !order->owns)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_SHARE,
                         "only the owner of an agent shares folders with it");
  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) entry = g_variant_get_child_value (given, i);

      if (!read_share (entry, fds, order, error))
        return FALSE;
    }
  return TRUE;
}

/* In a share, by its text: what it leads to is looked at by the kernel, with the agent's rights. */
static gboolean
read_directory (GVariant *given, Order *order, GError **error)
{
  g_autofree char *canonical = NULL, *flaw = NULL;

  if (given == NULL)
    return TRUE;
  order->directory = g_variant_dup_string (given, NULL);
  flaw = path_flaw (order->directory);
  if (flaw != NULL)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE, "the directory %s",
                         flaw);
  canonical = g_canonicalize_filename (order->directory, "/");
  for (guint i = 0; i < order->shares->len; i++)
    {
      const Share *share = g_ptr_array_index (order->shares, i);
      const gsize len = strlen (share->path);

      if (strcmp (canonical, order->directory) == 0 && strncmp (canonical, share->path, len) == 0 &&
          (canonical[len] == '/' || canonical[len] == '\0'))
        return TRUE;
    }
  return refuse (error, "the directory is not in a share");
}

static gboolean
read_size (GVariant *given, Order *order, GError **error)
{
  if (given == NULL)
    return TRUE;
  g_variant_get (given, "(qq)", &order->rows, &order->columns);
  if (order->rows > SIZE_MAX_CELLS || order->columns > SIZE_MAX_CELLS)
    return refuse (error, "a terminal has at most 1000 rows and columns");
  return TRUE;
}

Order *
order_ask (const Policy *policy, GVariant *body, uid_t caller, GError **error)
{
  g_autoptr (Order) order = g_new0 (Order, 1);
  g_autoptr (GVariant) command = NULL;
  const char *agent = NULL;

  g_variant_get (body, "(&s@asa{sv})", &agent, &command, NULL);
  if (!find_agent (policy, agent, caller, order, error) || !read_command (command, order, error))
    return NULL;
  return g_steal_pointer (&order);
}

Order *
order_read (const Policy *policy, GVariant *body, GUnixFDList *fds, uid_t caller, GError **error)
{
  g_autoptr (Order) order = order_ask (policy, body, caller, error);
  g_autoptr (GVariant) dict = g_variant_get_child_value (body, 2);
  GVariant *given[OPTION_N] = { NULL };
  gboolean good = FALSE;

  if (order == NULL || !options_read (dict, options, OPTION_N, given, error))
    return NULL;
  good = find_users (order, error) &&
         read_run (given[OPTION_RUN], given[OPTION_PART], order, error) &&
         read_close_run (given[OPTION_CLOSE_RUN], order, error) &&
         read_environment (given[OPTION_ENVIRONMENT], order, error) &&
         read_shares (given[OPTION_SHARES], fds, order, error) &&
         read_directory (given[OPTION_DIRECTORY], order, error) &&
         read_size (given[OPTION_SIZE], order, error);
  for (guint i = 0; i < OPTION_N; i++)
    g_clear_pointer (&given[i], g_variant_unref);
  return good ? g_steal_pointer (&order) : NULL;
}

/* --- what is looked at --- */

static gboolean
check_home (const char *home, const char *owner, GError **error)
{
  g_autofree char *flaw = home_flaw (home);

  return flaw == NULL || us_error_set (error, US_ERROR_REFUSED, US_REASON_IDENTITY,
                                       "the path of the home of %s %s", owner, flaw);
}

int
order_look (const Order *order, const char *prefix, GError **error)
{
  gboolean hides_home = FALSE;

  if (!account_check (order->ids.agent_uid, order->ids.owner_uid, prefix, order->agent, error))
    return -1;
  hides_home = home_is_elsewhere (order->home);
  if (hides_home && !check_home (order->home, order->owner, error))
    return -1;
  for (guint i = 0; i < order->shares->len; i++)
    if (!share_look (g_ptr_array_index (order->shares, i), order->ids.owner_uid, order->home,
                     error))
      return -1;
  return hides_home ? 1 : 0;
}

gboolean
order_was_asked (const Order *order, const Order *asked, GError **error)
{
  return order->owns || !asked->owns ||
         us_error_set (error, US_ERROR_REFUSED, US_REASON_DENIED_BY_RULE,
                       "the agent is no longer the caller's");
}

/* As a shell would read it, so that it is seen where a word ends. */
static void
append_word (GString *text, const char *word)
{
  g_autofree char *escaped = g_strescape (word, NULL);
  g_autofree char *quoted = g_shell_quote (escaped);
  const gboolean is_plain = word[0] != '\0' && strspn (word, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS
                                                       "%+,-./:=@_") == strlen (word);

  g_string_append (text, is_plain ? word : quoted);
}

char *
order_command_text (const Order *order)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gsize left = 0;

  for (guint i = 0; order->command[i] != NULL; i++)
    {
      if (i > 0)
        g_string_append_c (text, ' ');
      append_word (text, order->command[i]);
    }
  if (text->len > TEXT_MAX)
    {
      left = text->len - TEXT_MAX;
      g_string_truncate (text, TEXT_MAX);
      g_string_append_printf (text, "... (%" G_GSIZE_FORMAT " more characters not shown)", left);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}
