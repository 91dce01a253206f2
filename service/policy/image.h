/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The policy image: every policy file as it was at one moment, in one block of bytes that can be
 * sealed and passed on.  It is (format, files, modules); a file is (folder, name, shipped, path,
 * content), sorted; a module is (name, path of its shared object, SHA-256).  A resolved one is a head,
 * an image, and users; a user is (name, whether there is such a user, uid, whether the uid is called by
 * this name), sorted.  It is no GVariant as a whole, since GLib takes some twenty instructions for each
 * byte of an array within another to say that it is in normal form.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

#define IMAGE_FORMAT "undersign.policy/1"
#define IMAGE_FILE_TYPE "(ssbsay)"
#define IMAGE_MODULE_TYPE "(ssay)"
#define IMAGE_TYPE "(sa" IMAGE_FILE_TYPE "a" IMAGE_MODULE_TYPE ")"

#define IMAGE_USER_TYPE "(sbub)"

/* What stands before the image in a resolved one. */
typedef struct
{
  char magic[32];
  guint64 image_len; /* little-endian */
} ImageHead;

#define IMAGE_HEAD_INIT                                                                            \
  {                                                                                                \
    .magic = "undersign.policy-resolved/1"                                                         \
  }

/* The folders, in the order in which they are loaded. */
typedef enum
{
  FOLDER_MODULES,
  FOLDER_ACTIONS,
  FOLDER_AGENTS,
  FOLDER_RULES,
  FOLDER_N
} Folder;

const char *folder_name (Folder folder);   /* "rules" */
const char *folder_suffix (Folder folder); /* ".rule" */
gboolean folder_find (const char *name, Folder *out_folder);
/* folder_accepts: whether a file of this folder may be called @name, without the suffix. */
gboolean folder_accepts (Folder folder, const char *name);

typedef struct
{
  Folder folder;
  char *name; /* without the suffix */
  char *path; /* of the file that holds: the one in the configuration, where there are two */
  gboolean shipped;
  GBytes *content; /* empty: a mask, there is no such thing */
} ImageFile;

void image_file_free (ImageFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ImageFile, image_file_free)

typedef struct
{
  char *path;
  char *sha256; /* hexadecimal; "" in a tree being prepared, where the module is not installed */
} ImageModule;

typedef struct
{
  uid_t uid;
  gboolean exists;
  gboolean is_uids_name; /* the one that the uid is called by; FALSE where nobody asks */
} ImageUser;

typedef struct
{
  GPtrArray *files[FOLDER_N]; /* ImageFile, sorted by name */
  GHashTable *modules;        /* name → ImageModule */
  GHashTable *users;          /* (nullable): user name → ImageUser, of a resolved one */
} Image;

/* image_decode: NULL with US_ERROR_POLICY_INVALID for anything that policy_snapshot() cannot have
 * written. */
Image *image_decode (GBytes *bytes, GError **error);
void image_free (Image *image);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Image, image_free)

/* image_find: the file, or NULL; masks are found too. */
const ImageFile *image_find (const Image *image, Folder folder, const char *name);
gboolean image_file_is_mask (const ImageFile *file);

G_END_DECLS
