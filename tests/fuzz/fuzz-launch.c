/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What somebody wants started, as the launcher reads it as root.  The first byte says who calls:
 * 'o' the owner, 'r' root, 'a' the agent; the second how many folders come along ('a' none, 'b'
 * one, …). The rest is the call's body: the bytes of a GVariant, or where it begins with "(" its
 * text. Policy and users are the target's own; the folder is one that every system has.
 */
#include "service/base/encode.h"
#include "service/launcher/order.h"
#include "tests/fuzz/policy-image.h"
#include "tests/fuzz/refusal.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define BODY_TYPE "(sasa{sv})"
#define FOLDER "/dev/shm"
#define UID_FIRST 1000
#define TEXT_MOST 260

#define AGENT_FILE(name, user, owner)                                                              \
  "@agents/" name ".agent\n[Agent]\nSummary=An agent\nUser=" user "\nOwner=" owner "\n"

static const char policy_text[] =
    AGENT_FILE ("coder", "coder", "owner") AGENT_FILE ("rooted", "rooted", "owner")
        AGENT_FILE ("unnamed", "unnamed", "owner") AGENT_FILE ("shelled", "shelled", "owner")
            AGENT_FILE ("far", "far", "far-owner") AGENT_FILE ("lost", "lost", "lost-owner");

/* --- users: no function of the system's is asked --- */

static const struct
{
  const char *name, *home, *shell;
  gboolean is_there, is_of_root;
} users[] = {
  { "coder", "/", "/usr/sbin/nologin", TRUE, FALSE },
  { "owner", "/home/owner", "/bin/sh", TRUE, FALSE },
  { "rooted", "/", "/usr/sbin/nologin", TRUE, TRUE },
  { "unnamed", "/", "/usr/sbin/nologin", FALSE, FALSE },
  { "shelled", "/", "/bin/sh", TRUE, FALSE },
  { "far", "/", "/usr/sbin/nologin", TRUE, FALSE },
  { "far-owner", "/usr", "/bin/sh", TRUE, FALSE },
  { "lost", "/", "/usr/sbin/nologin", TRUE, FALSE },
  { "lost-owner", "/nowhere/at/all", "/bin/sh", TRUE, FALSE },
};

static gboolean
user_by_name (const char *name, uid_t *out_uid)
{
  for (guint i = 0; i < G_N_ELEMENTS (users); i++)
    if (strcmp (users[i].name, name) == 0)
      {
        *out_uid = UID_FIRST + i;
        return TRUE;
      }
  return FALSE;
}

static gboolean
user_by_uid (uid_t uid, char **out_name)
{
  if (uid < UID_FIRST || uid - UID_FIRST >= G_N_ELEMENTS (users))
    return FALSE;
  *out_name = g_strdup (users[uid - UID_FIRST].name);
  return TRUE;
}

static gboolean
user_in_group (const char *user, const char *group)
{
  return FALSE;
}

static const PolicyNames names = { user_by_name, user_by_uid, user_in_group };

static char *
store (char **at, const char *text)
{
  char *stored = *at;

  *at = g_stpcpy (stored, text) + 1;
  return stored;
}

int
getpwuid_r (uid_t uid, struct passwd *out, char *buffer, size_t size, struct passwd **found)
{
  const guint i = uid - UID_FIRST;
  char *at = buffer;

  *found = NULL;
  if (uid < UID_FIRST || i >= G_N_ELEMENTS (users) || !users[i].is_there)
    return 0;
  g_assert (size >= 1024);
  *out = (struct passwd){ .pw_name = store (&at, users[i].name),
                          .pw_passwd = store (&at, ""),
                          .pw_gecos = store (&at, ""),
                          .pw_uid = uid,
                          .pw_gid = users[i].is_of_root ? 0 : uid,
                          .pw_dir = store (&at, users[i].home),
                          .pw_shell = store (&at, users[i].shell) };
  *found = out;
  return 0;
}

int
getgrgid_r (gid_t gid, struct group *out, char *buffer, size_t size, struct group **found)
{
  static char *nobody[] = { NULL };
  char *at = buffer;

  g_assert (size >= 1024 && gid >= UID_FIRST && gid - UID_FIRST < G_N_ELEMENTS (users));
  *out = (struct group){ .gr_name = store (&at, users[gid - UID_FIRST].name),
                         .gr_passwd = store (&at, ""),
                         .gr_gid = gid,
                         .gr_mem = nobody };
  *found = out;
  return 0;
}

void
setpwent (void)
{
}

struct passwd *
getpwent (void)
{
  return NULL;
}

void
endpwent (void)
{
}

int
getgrouplist (const char *user, gid_t group, gid_t *groups, int *n)
{
  groups[0] = group;
  *n = 1;
  return 1;
}

/* --- what passes --- */

static void
check_text (const Order *order)
{
  g_autofree char *text = order_command_text (order);
  const gsize len = strlen (text);

  g_assert (len <= TEXT_MOST);
  for (gsize i = 0; i < len; i++)
    g_assert (text[i] >= 0x20 && text[i] <= 0x7e);
}

static void
check_command (char **command)
{
  gsize words = 0, bytes = 0;

  for (; command[words] != NULL; words++)
    bytes += strlen (command[words]) + 1;
  g_assert (words > 0 && words <= ORDER_COMMAND_WORDS_MAX && bytes <= ORDER_COMMAND_BYTES_MAX);
  g_assert (strlen (command[0]) > 0 &&
            strcspn (command[0], "\\\"':;%$ \t\n") == strlen (command[0]));
  g_assert (strchr ("-@+!|:", command[0][0]) == NULL);
  g_assert (command[0][0] == '/' || strchr (command[0], '/') == NULL);
}

static void
check_line (const char *text)
{
  g_assert (text == NULL || (text[0] != '\0' && g_utf8_validate (text, -1, NULL)));
  for (; text != NULL && text[0] != '\0'; text++)
    g_assert ((guint8) text[0] >= 0x20 && text[0] != 0x7f);
}

/* NAME=value for four names, and nothing that a file of systemd's would read as anything else. */
static void
check_environment (char **pairs)
{
  static const char *const may[] = { "COLORTERM=", "LANG=", "LC_ALL=", "TERM=" };
  guint seen[G_N_ELEMENTS (may)] = { 0 };

  for (guint i = 0; pairs[i] != NULL; i++)
    {
      guint name = 0;

      while (name < G_N_ELEMENTS (may) && !g_str_has_prefix (pairs[i], may[name]))
        name++;
      g_assert (name < G_N_ELEMENTS (may) && seen[name]++ == 0);
      g_assert (strlen (pairs[i]) > strlen (may[name]) && strlen (pairs[i]) <= 74);
      for (const char *at = pairs[i] + strlen (may[name]); *at != '\0'; at++)
        g_assert (g_ascii_isalnum (*at) || strchr ("._@+:-", *at) != NULL);
    }
}

static void
check_shares (const Order *order, guint n_fds)
{
  const gboolean is_in = order->directory != NULL && order->shares->len > 0 &&
                         g_str_has_prefix (order->directory, FOLDER);

  g_assert (order->shares->len == n_fds && n_fds <= SHARES_MAX);
  g_assert (n_fds == 0 || order->owns);
  g_assert (n_fds < 2); /* they are the same one */
  g_assert (order->directory == NULL || is_in);
  g_assert (order->directory == NULL || (strstr (order->directory, "/../") == NULL &&
                                         !g_str_has_suffix (order->directory, "/..")));
}

static void
check_order (const Order *order, uid_t caller, guint n_fds)
{
  uid_t uid = 0;

  g_assert (order->exists && user_by_name (order->user, &uid) && uid == order->ids.agent_uid);
  g_assert (order->ids.agent_uid != caller && order->ids.agent_gid != 0);
  g_assert (order->ids.owner_uid != 0 && order->ids.owner_gid != 0);
  g_assert (order->owns == (order->ids.owner_uid == caller));
  g_assert (order->rows <= 1000 && order->columns <= 1000);
  g_assert (order->close_run == NULL || id_is_valid (order->close_run));
  check_line (order->run);
  check_line (order->part);
  check_command (order->command);
  check_environment (order->environment);
  check_shares (order, n_fds);
}

static void
check_look (const Order *order)
{
  g_autoptr (GError) error = NULL;
  const int hides = order_look (order, "", &error);

  g_assert ((hides < 0) == (error != NULL));
  g_assert (hides < 0 || strcmp (order->user, "shelled") != 0);
  /* Of the system's own folders none is shared. */
  g_assert (hides < 0 || order->shares->len == 0);
  refusal_seen (error);
}

/* Of the same call polkit is asked what is done, unless the agent was given away meanwhile. */
static void
check_asked (const Order *order, const Order *asked)
{
  const Order other = { .owns = FALSE };
  g_autoptr (GError) error = NULL;

  g_assert (
      g_strv_equal ((const char *const *) order->command, (const char *const *) asked->command));
  g_assert (strcmp (order->agent, asked->agent) == 0 && order->owns == asked->owns);
  g_assert (asked->user == NULL && asked->home == NULL && asked->shares == NULL);
  g_assert (order_was_asked (order, asked, NULL));
  g_assert (order_was_asked (&other, asked, &error) == !asked->owns);
  refusal_seen (error);
}

static void
look_at (const Policy *policy, GVariant *body, uid_t caller, GUnixFDList *fds)
{
  const guint n_fds = fds != NULL ? (guint) g_unix_fd_list_get_length (fds) : 0;
  g_autoptr (GError) error = NULL, early = NULL;
  g_autoptr (Order) asked = order_ask (policy, body, caller, &early);
  g_autoptr (Order) order = order_read (policy, body, fds, caller, &error);

  g_assert ((asked == NULL) == (early != NULL) && (order == NULL) == (error != NULL));
  g_assert (order == NULL || asked != NULL);
  refusal_seen (error);
  if (asked != NULL)
    check_text (asked);
  if (order == NULL)
    return;
  check_order (order, caller, n_fds);
  check_asked (order, asked);
  check_look (order);
}

/* --- input --- */

static GVariant *
input_body (const char *data, gsize size)
{
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GVariant) value = NULL;

  if (size > 0 && data[0] == '(')
    return g_utf8_validate (data, (gssize) size, NULL)
               ? g_variant_parse (G_VARIANT_TYPE (BODY_TYPE), data, data + size, NULL, NULL)
               : NULL;
  bytes = g_bytes_new (data, size);
  value = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (BODY_TYPE), bytes, FALSE));
  return g_variant_is_normal_form (value) ? g_steal_pointer (&value) : NULL;
}

static GUnixFDList *
input_folders (guint n)
{
  GUnixFDList *fds = n > 0 ? g_unix_fd_list_new () : NULL;
  const int fd = open (FOLDER, O_PATH | O_DIRECTORY | O_CLOEXEC);

  g_assert (fd >= 0);
  for (guint i = 0; i < n; i++)
    g_assert (g_unix_fd_list_append (fds, fd, NULL) == (int) i);
  g_assert (close (fd) == 0);
  return fds;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GVariant) body = size > 2 ? input_body ((const char *) data + 2, size - 2) : NULL;
  g_autoptr (GUnixFDList) fds = NULL;
  g_autoptr (GBytes) image = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (Policy) policy = NULL;

  if (body == NULL)
    return 0;
  fds = input_folders ((guint8) (data[1] - 'a') % (SHARES_MAX + 2));
  image = policy_image (policy_text, strlen (policy_text));
  policy = policy_parse (image, &names, &error);
  g_assert_no_error (error);
  look_at (policy, body, data[0] == 'o' ? UID_FIRST + 1 : data[0] == 'a' ? UID_FIRST : 0, fds);
  return 0;
}
