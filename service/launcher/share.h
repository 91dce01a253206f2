/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A folder of an agent's owner that the agent may work in: an idmapped mount in which the owner's
 * files are the agent's, and what the agent makes is the owner's on disk.  Where the kernel can't
 * do that, there is no share; nothing else is tried.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

#define SHARES_MAX 8

typedef enum
{
  SHARE_READ_ONLY,
  SHARE_READ_WRITE,     /* all but .git at its top */
  SHARE_READ_WRITE_GIT, /* all of it */
} ShareAccess;

/* The word of the bus for it; share_access_parse() is FALSE for any other. */
const char *share_access_name (ShareAccess access);
gboolean share_access_parse (const char *word, ShareAccess *out);

typedef struct
{
  int fd;     /* what the owner opened; -1 once it is mounted */
  char *path; /* where the kernel says that it is */
  char *at;   /* (nullable): where it is mounted for the agent's unit to take it from */
  ShareAccess access;
} Share;

void share_free (Share *share); /* unmounts, too */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Share, share_free)

/*
 * share_new: asks no file system anything.
 * @fd: taken
 *
 * Returns: (transfer full): NULL with reason bad-share, or no-idmap for a file system that can't.
 */
Share *share_new (int fd, ShareAccess access, GError **error);

/*
 * share_look: looks at it, which can take for ever where the owner's home is not there.
 * @owner, @home: of the agent's owner; the folder must be his, and not be, hold or be outside of
 *   what a person works in
 *
 * Returns: FALSE with reason bad-share.
 */
gboolean share_look (const Share *share, uid_t owner, const char *home, GError **error);

/* share_is_apart: neither is in the other. */
gboolean share_is_apart (const Share *one, const Share *other);

/* Whose ids stand for whose. */
typedef struct
{
  uid_t owner_uid, agent_uid;
  gid_t owner_gid, agent_gid;
} ShareIds;

/*
 * share_map: a user namespace in which nobody is, that says so.
 * Returns: its descriptor, or -1 with an error.
 */
int share_map (const ShareIds *ids, GError **error);

/* share_mount: at @at, a folder that it makes.  @map: of share_map() */
gboolean share_mount (Share *share, int map, const char *at, GError **error);

/* shares_sweep: unmounts and removes what an earlier process left below @folder. */
void shares_sweep (const char *folder);

G_END_DECLS
