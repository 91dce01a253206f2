/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The two files of a boot, both in the runtime directory, which a reboot empties: `mark`, the
 * number and hash of the last audit entry that a commit here has reached, and `seal.key`, the key
 * of the seals.
 *
 * At the first start in a boot the mark is written first, the key made second; no start ever
 * replaces a key.  So a mark without a key is a start that was interrupted, and is finished; a key
 * without a mark is a mark that somebody took away, and halts.  Callers hold the ledger's lock for
 * everything but mark_state() and ledger_seal().
 */
#include "service/ledger/private.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/base/fd.h"
#include "service/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK_NAME "mark"
#define MARK_FORMAT "undersign.mark/1"
#define MARK_MAX 256
#define KEY_NAME "seal.key"
#define KEY_SIZE 32
#define TEMPORARY_SUFFIX ".new"

typedef struct
{
  char *ledger;
  guint64 seq;
  guint8 head[PAE_DIGEST_SIZE];
} Mark;

static void
mark_clear (Mark *mark)
{
  g_free (mark->ledger);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Mark, mark_clear)

static gboolean
mark_failed (GError **error, const char *what)
{
  return us_error_set (error, US_ERROR_HALTED, US_REASON_MARK, "%s: %s", what, g_strerror (errno));
}

/* file_open: a file of ours that nobody else can read; *@out_fd is -1 where there is none. */
static gboolean
file_open (Ledger *ledger, const char *name, int *out_fd, GError **error)
{
  struct stat st;
  autofd fd = openat (ledger->runtime_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

  if (fd < 0 && errno != ENOENT)
    return mark_failed (error, name);
  if (fd >= 0 && (fstat (fd, &st) != 0 || !S_ISREG (st.st_mode) || st.st_uid != geteuid () ||
                  (st.st_mode & 077) != 0))
    return us_error_set (error, US_ERROR_HALTED, US_REASON_MARK, "%s is not a private file of ours",
                         name);
  *out_fd = fd_steal (&fd);
  return TRUE;
}

/*
 * file_put: whole or not at all; the directory is a tmpfs, where fsync has no meaning.
 * @flags: RENAME_NOREPLACE to fail where @name exists, or 0
 */
static gboolean
file_put (
    Ledger *ledger, const char *name, const void *data, gsize len, guint flags, GError **error)
{
  g_autofree char *temporary = g_strconcat (name, TEMPORARY_SUFFIX, NULL);
  autofd fd = -1;

  if (unlinkat (ledger->runtime_fd, temporary, 0) != 0 && errno != ENOENT)
    return mark_failed (error, temporary);
  fd = openat (ledger->runtime_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
               0600);
  if (fd < 0)
    return mark_failed (error, temporary);

  if (!fd_write_all (fd, data, len, NULL))
    return us_error_set (error, US_ERROR_HALTED, US_REASON_MARK, "cannot write %s", temporary);
  if (renameat2 (ledger->runtime_fd, temporary, ledger->runtime_fd, name, flags) != 0)
    return mark_failed (error, name);
  return TRUE;
}

static char *
mark_format (const Mark *mark)
{
  g_autofree char *head = digest_to_string (mark->head);

  return g_strdup_printf (MARK_FORMAT " %s %" G_GUINT64_FORMAT " %s\n", mark->ledger, mark->seq,
                          head);
}

static gboolean
mark_parse (const char *text, Mark *out_mark)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  g_auto (Mark) mark = { 0 };
  g_autofree char *again = NULL;

  if (g_strv_length (words) != 4 || !id_is_valid (words[1]) ||
      !g_ascii_string_to_unsigned (words[2], 10, 0, G_MAXINT64, &mark.seq, NULL))
    return FALSE;
  if (!digest_from_string (g_strchomp (words[3]), mark.head))
    return FALSE;
  mark.ledger = g_strdup (words[1]);

  again = mark_format (&mark);
  if (strcmp (again, text) != 0)
    return FALSE;
  *out_mark = mark;
  mark.ledger = NULL;
  return TRUE;
}

/* mark_read: out_mark->ledger stays NULL where there is no mark. */
static gboolean
mark_read (Ledger *ledger, Mark *out_mark, GError **error)
{
  g_autoptr (GBytes) bytes = NULL;
  g_autofree char *text = NULL;
  autofd fd = -1;

  if (!file_open (ledger, MARK_NAME, &fd, error))
    return FALSE;
  if (fd < 0)
    return TRUE;

  bytes = fd_read_all (fd, MARK_MAX, NULL);
  if (bytes != NULL)
    text = g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  if (text == NULL || !mark_parse (text, out_mark))
    return us_error_set (error, US_ERROR_HALTED, US_REASON_MARK, "the mark is not readable");
  return TRUE;
}

/* mark_is_reached: whether the ledger's chain goes through the marked entry. */
static gboolean
mark_is_reached (Ledger *ledger, const Mark *mark, gboolean *out_reached, GError **error)
{
  g_autoptr (sqlite3_stmt) query = NULL;
  guint8 hash[PAE_DIGEST_SIZE];
  gboolean row = FALSE;

  query =
      query_new (ledger, error, "SELECT hash FROM audit WHERE seq = ?", "i", (gint64) mark->seq);
  if (query == NULL || !query_next (ledger, query, &row, error))
    return FALSE;
  *out_reached = row && strcmp (mark->ledger, ledger->id) == 0 && query_digest (query, 0, hash) &&
                 digest_equal (hash, mark->head);
  return TRUE;
}

/* The mark is read before the ledger: a commit comes before its mark, so that what is read of the
 * ledger is never older than the mark on account of another worker. */
gboolean
mark_state (Ledger *ledger, MarkState *out_state, GError **error)
{
  g_auto (Mark) mark = { 0 };
  gboolean reached = FALSE;
  autofd key_fd = -1;

  /* a file that cannot be read is as good as none: it halts, and can be resumed from */
  if (!mark_read (ledger, &mark, NULL) || !file_open (ledger, KEY_NAME, &key_fd, NULL))
    {
      *out_state = MARK_ABSENT;
      return TRUE;
    }
  if (mark.ledger == NULL)
    {
      *out_state = key_fd >= 0 ? MARK_ABSENT : MARK_FRESH;
      return TRUE;
    }

  if (!mark_is_reached (ledger, &mark, &reached, error))
    return FALSE;
  if (!reached)
    *out_state = MARK_BEHIND;
  else
    *out_state = key_fd >= 0 ? MARK_HOLDS : MARK_NO_KEY;
  return TRUE;
}

gboolean
mark_refuse (MarkState state, GError **error)
{
  switch (state)
    {
    case MARK_HOLDS:
      return TRUE;
    case MARK_BEHIND:
      return us_error_set (error, US_ERROR_HALTED, US_REASON_LEDGER_BEHIND,
                           "the ledger is older than, or not the one of, this boot's mark");
    case MARK_NO_KEY:
      return us_error_set (error, US_ERROR_HALTED, US_REASON_MARK, "this boot's key is missing");
    case MARK_ABSENT:
    case MARK_FRESH:
    default:
      return us_error_set (error, US_ERROR_HALTED, US_REASON_MARK, "this boot's mark is missing");
    }
}

/* mark_write: under the lock, after a commit.  Only forward: the caller has seen that the chain
 * goes through the mark on file, and the chain only grows. */
gboolean
mark_write (Ledger *ledger, GError **error)
{
  g_auto (Mark) mark = { .ledger = g_strdup (ledger->id) };
  g_autofree char *text = NULL;

  if (!audit_head (ledger, &mark.seq, mark.head, error))
    return FALSE;
  text = mark_format (&mark);
  return file_put (ledger, MARK_NAME, text, strlen (text), 0, error);
}

static gboolean
seal_key_put (Ledger *ledger, guint flags, GError **error)
{
  guint8 key[KEY_SIZE];
  gboolean put = FALSE;

  if (getrandom (key, sizeof key, 0) != sizeof key)
    return mark_failed (error, "no randomness");
  put = file_put (ledger, KEY_NAME, key, sizeof key, flags, error);
  explicit_bzero (key, sizeof key);
  return put;
}

/* seal_key_renew: every seal made before is void. */
gboolean
seal_key_renew (Ledger *ledger, GError **error)
{
  g_clear_pointer (&ledger->key, secret_free);
  return seal_key_put (ledger, 0, error);
}

/* mark_begin_boot: under the lock, at each start: makes what the boot's first start has to make. */
gboolean
mark_begin_boot (Ledger *ledger, GError **error)
{
  MarkState state = MARK_ABSENT;

  if (!mark_state (ledger, &state, error))
    return FALSE;
  switch (state)
    {
    case MARK_FRESH:
      return mark_write (ledger, error) && seal_key_put (ledger, RENAME_NOREPLACE, error);
    case MARK_NO_KEY:
      return seal_key_put (ledger, RENAME_NOREPLACE, error);
    case MARK_ABSENT:
    case MARK_BEHIND:
    case MARK_HOLDS:
    default:
      return TRUE;
    }
}

static Secret *
seal_key_read (Ledger *ledger, GError **error)
{
  g_autoptr (Secret) key = NULL;
  autofd fd = -1;

  if (!file_open (ledger, KEY_NAME, &fd, error))
    return NULL;
  if (fd >= 0)
    key = secret_new_read (fd, KEY_SIZE, NULL);
  if (key == NULL || secret_size (key) != KEY_SIZE)
    {
      us_error_set (error, US_ERROR_HALTED, US_REASON_MARK, "this boot's key is missing");
      return NULL;
    }
  return g_steal_pointer (&key);
}

gboolean
seal_key_check (Ledger *ledger, GError **error)
{
  g_autoptr (Secret) now = seal_key_read (ledger, error);

  if (now == NULL)
    return FALSE;
  if (ledger->key != NULL && !digest_equal (secret_data (now), secret_data (ledger->key)))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_SEAL,
                         "this boot's key was renewed meanwhile");
  return TRUE;
}

gboolean
ledger_seal (Ledger *ledger,
             const char *request,
             const guint8 digest[PAE_DIGEST_SIZE],
             guint64 deadline,
             guint8 out_seal[PAE_DIGEST_SIZE],
             GError **error)
{
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  g_autofree char *deadline_text = g_strdup_printf ("%" G_GUINT64_FORMAT, deadline);
  g_autofree char *digest_text = digest_to_string (digest);
  g_autoptr (GBytes) body = NULL;

  if (ledger->key == NULL)
    ledger->key = seal_key_read (ledger, error);
  if (ledger->key == NULL)
    return FALSE;

  json_tree_add_string (tree, "format", "undersign.seal/1");
  json_tree_add_string (tree, "request", request);
  json_tree_add_string (tree, "record", digest_text);
  json_tree_add_string (tree, "deadline", deadline_text);
  body = json_tree_write (tree);
  pae_hmac (secret_data (ledger->key), KEY_SIZE, PAE_TYPE_SEAL, body, out_seal);
  return TRUE;
}
