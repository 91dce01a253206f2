/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks and mounts shares.  Called by launch.c, as root.  The owner gives a descriptor, not a
 * path: what was opened is what is mounted, and only what the owner could open.  A file system that
 * a person serves could make any look at it last for ever, so its type is read before anything
 * else.
 */
#include "service/launcher/share.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/launcher/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define HOOKS_MAX 256 /* git makes 13 samples */

/* Those of this machine whose mounts can have a map; nothing that is served by a process. */
static const char *const file_systems[] = { "bcachefs", "btrfs", "ext2", "ext3", "ext4",
                                            "f2fs",     "tmpfs", "xfs",  NULL };
/* Where nobody works, and what is there is not for others. */
static const char *const places[] = { "/boot", "/dev", "/etc",     "/proc", "/run",
                                      "/sys",  "/usr", "/var/lib", NULL };
static const char *const access_names[] = {
  [SHARE_READ_ONLY] = "read-only",
  [SHARE_READ_WRITE] = "read-write",
  [SHARE_READ_WRITE_GIT] = "read-write-git",
};

const char *
share_access_name (ShareAccess access)
{
  return access_names[access];
}

gboolean
share_access_parse (const char *word, ShareAccess *out)
{
  for (guint i = 0; i < G_N_ELEMENTS (access_names); i++)
    if (strcmp (word, access_names[i]) == 0)
      {
        *out = (ShareAccess) i;
        return TRUE;
      }
  return FALSE;
}

void
share_free (Share *share)
{
  if (share == NULL)
    return;
  if (share->at != NULL)
    {
      if (umount2 (share->at, UMOUNT_NOFOLLOW) != 0 &&
          umount2 (share->at, UMOUNT_NOFOLLOW | MNT_DETACH) != 0)
        g_warning ("cannot unmount %s: %s", share->at, g_strerror (errno));
      if (rmdir (share->at) != 0)
        g_warning ("cannot remove %s: %s", share->at, g_strerror (errno));
    }
  fd_clear (&share->fd);
  g_free (share->path);
  g_free (share->at);
  g_free (share);
}

static gboolean
is_below (const char *path, const char *folder)
{
  const gsize len = strlen (folder);

  return strncmp (path, folder, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

gboolean
share_is_apart (const Share *one, const Share *other)
{
  return !is_below (one->path, other->path) && !is_below (other->path, one->path);
}

/* The number of the mount that @fd is on, as text. */
static char *
mount_of (int fd)
{
  g_autofree char *path = g_strdup_printf ("/proc/self/fdinfo/%d", fd);
  g_autofree char *text = NULL;
  const char *found = NULL;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return NULL;
  found = strstr (text, "mnt_id:\t");
  return found != NULL ? g_strndup (found + 8, strspn (found + 8, "0123456789")) : NULL;
}

/* Of the mounts that this process has: none is found where the caller has others. */
static char *
type_of (const char *mount)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents ("/proc/self/mountinfo", &text, NULL, NULL))
    return NULL;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      const gsize len = strcspn (lines[i], " ");
      const char *type = strstr (lines[i], " - ");

      if (type != NULL && len == strlen (mount) && strncmp (lines[i], mount, len) == 0)
        return g_strndup (type + 3, strcspn (type + 3, " "));
    }
  return NULL;
}

static gboolean
check_file_system (int fd, GError **error)
{
  g_autofree char *mount = mount_of (fd);
  g_autofree char *type = mount != NULL ? type_of (mount) : NULL;

  if (type == NULL)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_SHARE,
                         "a folder to share is on a mount that the system does not have");
  if (!g_strv_contains (file_systems, type))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_NO_IDMAP,
                         "a folder to share is on %s, where files cannot be another's for one "
                         "program",
                         type);
  return TRUE;
}

/* Where it is, which is where the agent will find it. */
static char *
path_of (int fd, GError **error)
{
  g_autofree char *link = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_autofree char *path = g_file_read_link (link, NULL), *flaw = NULL;

  flaw = path != NULL ? path_flaw (path) : g_strdup ("cannot be read");
  if (flaw == NULL)
    return g_steal_pointer (&path);
  us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_SHARE, "the path of a folder to share %s",
                flaw);
  return NULL;
}

/* systemd makes the path again for the mount, as root: nobody may lead that elsewhere. */
static gboolean
check_place (const char *path, const char *home, GError **error)
{
  if (strcmp (path, "/") == 0)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_SHARE, "/ is not shared");
  for (guint i = 0; places[i] != NULL; i++)
    if (is_below (path, places[i]))
      return us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_SHARE,
                           "%s is in %s, of which nothing is shared", path, places[i]);
  return path_is_hidden (path, home) || path_is_steady (path) ||
         us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_SHARE,
                       "%s is neither in a home or /tmp nor in folders that root alone writes",
                       path);
}

/* The home itself gives away all that a person has; by its inode, since it may have two paths. */
static gboolean
check_home (const char *path, const struct statx *status, const char *home, GError **error)
{
  struct statx of_home;

  if (is_below (home, path))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_SHARE,
                         "%s is or holds the home of its owner, which is not shared", path);
  if (statx (AT_FDCWD, home, AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &of_home) != 0)
    return errno == ENOENT || errno == ENOTDIR ||
           us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_SHARE, "cannot look at %s: %s",
                         home, g_strerror (errno));
  if (of_home.stx_ino == status->stx_ino && of_home.stx_dev_major == status->stx_dev_major &&
      of_home.stx_dev_minor == status->stx_dev_minor)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_SHARE,
                         "%s is the home of its owner, which is not shared", path);
  return TRUE;
}

static gboolean
cannot_look (const Share *share, const char *name, GError **error)
{
  return us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_SHARE, "cannot look at %s/%s: %s",
                       share->path, name, g_strerror (errno));
}

/* The kind of what is there, 0 for nothing; FALSE where it cannot be looked at. */
static gboolean
find_kind (const Share *share, const char *name, mode_t *out, GError **error)
{
  struct statx status;

  *out = 0;
  if (statx (share->fd, name, AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC, STATX_TYPE, &status) == 0)
    *out = status.stx_mode & S_IFMT;
  else if (errno != ENOENT && errno != ENOTDIR)
    return cannot_look (share, name, error);
  return TRUE;
}

static gboolean
refuse_git (const Share *share, const char *name, const char *what, GError **error)
{
  return us_error_set (
      error, US_ERROR_REFUSED, US_REASON_BAD_SHARE,
      "%s%s is %s, and what git runs of it cannot be kept from the agent: share it "
      "with :ro, or with :git where the agent may have all of it",
      share->path, name, what);
}

/* git takes a folder for a repository by these, where it takes no .git in it for one. */
static gboolean
check_bare (const Share *share, GError **error)
{
  mode_t head = 0, common = 0, objects = 0, refs = 0;

  if (!find_kind (share, "HEAD", &head, error) || !find_kind (share, "commondir", &common, error) ||
      !find_kind (share, "objects", &objects, error) || !find_kind (share, "refs", &refs, error))
    return FALSE;
  return head == 0 || (common == 0 && (objects == 0 || refs == 0)) ||
         refuse_git (share, "", "a bare repository, or looks like one", error);
}

static gboolean
refuse_link (const Share *share, const char *name, mode_t kind, GError **error)
{
  return kind != S_IFLNK || refuse_git (share, name, "in part a link", error);
}

/* (nullable): .git/hooks, where it is a folder. */
static DIR *
open_hooks (const Share *share)
{
  const int flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  autofd git = openat (share->fd, ".git", O_PATH | flags);
  autofd hooks = git >= 0 ? openat (git, "hooks", O_RDONLY | flags) : -1;
  DIR *folder = hooks >= 0 ? fdopendir (hooks) : NULL;

  if (folder != NULL)
    fd_steal (&hooks);
  return folder;
}

/* A hook that is a link leads, as a rule, to a script in the share. */
static gboolean
check_hooks (const Share *share, GError **error)
{
  DIR *folder = open_hooks (share);
  const struct dirent *entry = NULL;
  gboolean good = TRUE;
  guint n = 0;

  if (folder == NULL)
    return cannot_look (share, ".git/hooks", error);
  for (errno = 0; good && (entry = readdir (folder)) != NULL; errno = 0)
    {
      g_autofree char *name = g_build_filename (".git/hooks", entry->d_name, NULL);
      mode_t kind = 0;

      good = (++n <= HOOKS_MAX + 2 || /* with . and .. */
              refuse_git (share, "/.git/hooks", "a folder of too many files", error)) &&
             find_kind (share, name, &kind, error) &&
             refuse_link (share, "/.git/hooks", kind, error);
    }
  if (good && errno != 0)
    good = cannot_look (share, ".git/hooks", error);
  closedir (folder);
  return good;
}

/*
 * What makes .git read-only holds for that folder: not for where a link, a file or commondir leads,
 * which may be in the share, nor for a share that is a repository itself.
 */
static gboolean
check_git (const Share *share, GError **error)
{
  static const char *const inside[] = { ".git/config", ".git/config.worktree", ".git/modules",
                                        ".git/hooks" };
  mode_t kind = 0;

  if (share->access != SHARE_READ_WRITE)
    return TRUE;
  if (!check_bare (share, error) || !find_kind (share, ".git", &kind, error))
    return FALSE;
  if (kind == 0)
    return TRUE;
  if (kind != S_IFDIR)
    return refuse_git (share, "/.git", "no folder", error);
  if (!find_kind (share, ".git/commondir", &kind, error))
    return FALSE;
  if (kind != 0)
    return refuse_git (share, "/.git", "a part of another", error);
  for (guint i = 0; i < G_N_ELEMENTS (inside); i++)
    {
      if (!find_kind (share, inside[i], &kind, error) || !refuse_link (share, "/.git", kind, error))
        return FALSE;
    }
  return kind != S_IFDIR || check_hooks (share, error); /* the last is the hooks */
}

gboolean
share_look (const Share *share, uid_t owner, const char *home, GError **error)
{
  const char *path = share->path;
  struct statx status;

  if (!check_place (path, home, error))
    return FALSE;
  if (statx (share->fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &status) != 0)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_SHARE, "cannot look at %s: %s",
                         path, g_strerror (errno));
  if (!S_ISDIR (status.stx_mode) || status.stx_nlink == 0)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_SHARE, "%s is not a folder", path);
  if (status.stx_uid != owner)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_SHARE,
                         "%s does not belong to the owner of the agent", path);
  return check_home (path, &status, home, error) && check_git (share, error);
}

Share *
share_new (int fd, ShareAccess access, GError **error)
{
  g_autoptr (Share) share = g_new0 (Share, 1);

  share->fd = fd;
  share->access = access;
  if (!check_file_system (fd, error))
    return NULL;
  share->path = path_of (fd, error);
  if (share->path == NULL)
    return NULL;
  return g_steal_pointer (&share);
}

/* --- the map --- */

static gboolean
write_map (pid_t pid, const char *name, guint from, guint to)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/%s", (int) pid, name);
  g_autofree char *line = g_strdup_printf ("%u %u 1\n", from, to);
  autofd fd = open (path, O_WRONLY | O_CLOEXEC);

  return fd >= 0 && write (fd, line, strlen (line)) == (ssize_t) strlen (line);
}

static int
map_fill (pid_t pid, const ShareIds *ids)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/ns/user", (int) pid);

  if (!write_map (pid, "uid_map", ids->owner_uid, ids->agent_uid) ||
      !write_map (pid, "gid_map", ids->owner_gid, ids->agent_gid))
    return -1;
  return open (path, O_RDONLY | O_CLOEXEC);
}

/* In the child: is in a user namespace of its own, says so, and does nothing. */
static void G_GNUC_NORETURN
be_mapped (int ready)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  if (unshare (CLONE_NEWUSER) == 0 && write (ready, "", 1) == 1)
    for (;;)
      pause ();
  _exit (1);
}

int
share_map (const ShareIds *ids, GError **error)
{
  int ends[2] = { -1, -1 };
  char byte = 0;
  int fd = -1;
  pid_t pid = pipe2 (ends, O_CLOEXEC) == 0 ? fork () : -1;

  if (pid == 0)
    be_mapped (ends[1]);
  fd_clear (&ends[1]);
  if (pid > 0)
    {
      int saved = 0;

      fd = read (ends[0], &byte, 1) == 1 ? map_fill (pid, ids) : -1;
      saved = errno;
      kill (pid, SIGKILL);
      while (waitpid (pid, NULL, 0) < 0 && errno == EINTR)
        ;
      errno = saved;
    }
  fd_clear (&ends[0]);
  if (fd < 0)
    us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_NO_IDMAP,
                  "no map of users can be made: %s", g_strerror (errno));
  return fd;
}

/* --- the mount --- */

static gboolean
cannot_mount (const Share *share, GError **error)
{
  if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_NO_IDMAP,
                         "%s cannot be shared: its file system, or this kernel, has no idmapped "
                         "mounts",
                         share->path);
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot mount %s: %s",
                       share->path, g_strerror (errno));
}

gboolean
share_mount (Share *share, int map, const char *at, GError **error)
{
  struct mount_attr attr = { .attr_set = MOUNT_ATTR_IDMAP | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
                             .userns_fd = (guint64) map };
  autofd tree = open_tree (share->fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);

  if (tree < 0)
    return cannot_mount (share, error);
  if (share->access == SHARE_READ_ONLY)
    attr.attr_set |= MOUNT_ATTR_RDONLY;
  if (mount_setattr (tree, "", AT_EMPTY_PATH, &attr, sizeof attr) != 0)
    return cannot_mount (share, error);
  if (mkdir (at, 0700) != 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot make %s: %s", at,
                         g_strerror (errno));
  if (move_mount (tree, "", AT_FDCWD, at, MOVE_MOUNT_F_EMPTY_PATH) != 0)
    {
      cannot_mount (share, error);
      rmdir (at);
      return FALSE;
    }
  share->at = g_strdup (at);
  fd_clear (&share->fd);
  return TRUE;
}

/* Never goes into a mount: rmdir() takes away what is empty, and nothing else. */
void
shares_sweep (const char *folder)
{
  g_autoptr (GDir) launches = g_dir_open (folder, 0, NULL);
  const char *name = NULL;

  while (launches != NULL && (name = g_dir_read_name (launches)) != NULL)
    {
      g_autofree char *launch = g_build_filename (folder, name, NULL);

      for (guint i = 0; i < SHARES_MAX; i++)
        {
          g_autofree char *at = g_strdup_printf ("%s/%u", launch, i);

          umount2 (at, UMOUNT_NOFOLLOW | MNT_DETACH);
          rmdir (at);
        }
      rmdir (launch);
    }
}
