/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file of the host key: 32 bytes, mode 0600, never replaced.  It is written whole under
 * another name and then moved to its place, under a lock: of two workers that make a key, one has
 * made none, and a crash leaves no second copy beside it.  The seed is read into locked memory and never copied from there but by
 * the crypto library, into its own.
 */
#include "service/executor/host-key.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/checkpoint.h"
#include "service/base/clock.h"
#include "service/base/ed25519.h"
#include "service/base/fd.h"
#include "service/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOST_KEY_UNFINISHED HOST_KEY_NAME ".new"

struct HostKey
{
  Secret *seed;
  guint8 public[ED25519_PUBLIC_SIZE];
  char *id;
};

void
host_key_free (HostKey *key)
{
  if (key == NULL)
    return;
  secret_free (key->seed);
  g_free (key->id);
  g_free (key);
}

const char *
host_key_id (const HostKey *key)
{
  return key->id;
}

static gboolean
key_failed (GError **error, const char *what)
{
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "%s: %s", what,
                       g_strerror (errno));
}

static gboolean
key_write (int dirfd, GError **error)
{
  g_autoptr (Secret) seed = secret_new (ED25519_SEED_SIZE);
  autofd fd = -1;

  if (unlinkat (dirfd, HOST_KEY_UNFINISHED, 0) != 0 && errno != ENOENT)
    return key_failed (error, HOST_KEY_UNFINISHED);
  fd = openat (dirfd, HOST_KEY_UNFINISHED, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
               0600);
  if (fd < 0)
    return key_failed (error, HOST_KEY_UNFINISHED);
  if (seed == NULL || getrandom (secret_data (seed), ED25519_SEED_SIZE, 0) != ED25519_SEED_SIZE)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "no locked memory or no randomness for the host key");
  if (!fd_write_all (fd, secret_data (seed), ED25519_SEED_SIZE, error))
    return FALSE;
  return fsync (fd) == 0 || key_failed (error, HOST_KEY_UNFINISHED);
}

/* key_read: NULL without an error where there is none. */
static Secret *
key_read (int dirfd, GError **error)
{
  g_autoptr (Secret) seed = NULL;
  struct stat st;
  autofd fd = openat (dirfd, HOST_KEY_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

  if (fd < 0)
    {
      if (errno != ENOENT)
        key_failed (error, HOST_KEY_NAME);
      return NULL;
    }
  if (fstat (fd, &st) != 0 || !S_ISREG (st.st_mode) || st.st_uid != geteuid () ||
      (st.st_mode & 077) != 0)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNTRUSTED_FILE,
                    HOST_KEY_NAME " is not a private file of ours");
      return NULL;
    }
  seed = secret_new_read (fd, ED25519_SEED_SIZE, error);
  if (seed != NULL && secret_size (seed) != ED25519_SEED_SIZE)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNTRUSTED_FILE,
                    HOST_KEY_NAME " is damaged");
      return NULL;
    }
  return g_steal_pointer (&seed);
}

/* key_make: under the lock, where there is none.  Whatever ends it, at most the unfinished file is
 * left, and the next that makes a key takes that away. */
static gboolean
key_make (int dirfd, GError **error)
{
  gboolean made = key_write (dirfd, error);

  if (made && renameat (dirfd, HOST_KEY_UNFINISHED, dirfd, HOST_KEY_NAME) != 0)
    made = key_failed (error, HOST_KEY_NAME);
  if (made && fsync (dirfd) != 0)
    made = key_failed (error, HOST_KEY_NAME);
  if (!made)
    unlinkat (dirfd, HOST_KEY_UNFINISHED, 0);
  return made;
}

static gboolean
folder_lock (int dirfd, GError **error)
{
  while (flock (dirfd, LOCK_EX) != 0)
    if (errno != EINTR)
      return key_failed (error, "cannot lock the folder of the host key");
  return TRUE;
}

static Secret *
key_find (const char *state_dir, GError **error)
{
  autofd dirfd = open (state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_autoptr (GError) local = NULL;
  Secret *seed = NULL;

  if (dirfd < 0)
    {
      key_failed (error, state_dir);
      return NULL;
    }
  seed = key_read (dirfd, &local);
  /* once more under the lock, which ends with dirfd: another may have made one meanwhile */
  if (seed == NULL && local == NULL && folder_lock (dirfd, &local))
    seed = key_read (dirfd, &local);
  if (seed == NULL && local == NULL && key_make (dirfd, &local))
    seed = key_read (dirfd, &local);
  if (seed == NULL && local == NULL)
    us_error_set (&local, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "there is no host key");
  if (seed == NULL)
    g_propagate_error (error, g_steal_pointer (&local));
  return seed;
}

static void
key_signer (const HostKey *key, Signer *out_signer)
{
  out_signer->algorithm = SIGNER_EDDSA;
  out_signer->public_key = g_bytes_new (key->public, sizeof key->public);
}

HostKey *
host_key_open (Executor *executor, GError **error)
{
  g_autoptr (HostKey) key = g_new0 (HostKey, 1);
  g_auto (Signer) signer = { 0 };

  key->seed = key_find (executor->config->state_dir, error);
  if (key->seed == NULL || !ed25519_public (key->seed, key->public, error))
    return NULL;
  key_signer (key, &signer);
  key->id = signer_id_text (&signer);
  if (!ledger_note_key (executor->ledger, &signer, error))
    return NULL;
  return g_steal_pointer (&key);
}

JsonTree *
host_key_sign (HostKey *key, const char *type, GBytes *body, GError **error)
{
  g_auto (Signed) sealed = { 0 };
  guint8 signature[ED25519_SIGNATURE_SIZE];

  if (!ed25519_sign (key->seed, type, body, signature, error))
    return NULL;
  key_signer (key, &sealed.signer);
  sealed.body = g_bytes_ref (body);
  sealed.signature = g_bytes_new (signature, sizeof signature);
  return signed_tree (&sealed, type);
}

JsonTree *
host_key_checkpoint (HostKey *key, Executor *executor, GError **error)
{
  g_auto (Checkpoint) checkpoint = { 0 };
  g_autoptr (GBytes) body = NULL;

  if (!ledger_head (executor->ledger, &checkpoint.seq, checkpoint.head, error))
    return NULL;
  checkpoint.host = g_strdup (executor->config->host);
  checkpoint.key = g_strdup (key->id);
  checkpoint.ledger = g_strdup (ledger_id (executor->ledger));
  checkpoint.time = clock_format (clock_wall ());
  body = checkpoint_encode (&checkpoint);
  return host_key_sign (key, PAE_TYPE_CHECKPOINT, body, error);
}
