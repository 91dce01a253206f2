/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loads the folder of attestation authorities.  Called at each enrolment of a hardware key, so that
 * what root took out is gone at once.  One file that is not what it must be makes the whole folder
 * void: a set that is half read must never pass for the whole.
 */
#include "service/passkey/roots.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/file.h"
#include "service/passkey/chain.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC (BIO, BIO_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DIR, closedir)

struct AttestationRoots
{
  X509_STORE *store;
  guint n;
};

void
attestation_roots_free (AttestationRoots *roots)
{
  if (roots == NULL)
    return;
  X509_STORE_free (roots->store);
  g_free (roots);
}

guint
attestation_roots_count (const AttestationRoots *roots)
{
  return roots->n;
}

static gboolean
bad_file (GError **error, const char *name, const char *what)
{
  ERR_clear_error ();
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_VALUE, "%s %s", name, what);
}

/* A certificate of a key would let whoever has that key attest others. */
static gboolean
is_authority (X509 *certificate)
{
  return X509_get_version (certificate) == X509_VERSION_3 && X509_check_ca (certificate) == 1;
}

static gboolean
out_of_memory (GError **error)
{
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                       "the folder of attestation authorities: out of memory");
}

/*
 * check_lines: the reader passes over what it does not know as if it were a comment, also over a
 * certificate whose first line is misspelt.  Each line with dashes must be one that it does know,
 * and each first line must have given one of the certificates that were @found.
 */
static gboolean
check_lines (const char *name, const char *data, gsize len, guint found, GError **error)
{
  g_autofree char *text = g_strndup (data, len);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  guint begun = 0;

  if (strlen (text) != len)
    return bad_file (error, name, "is not text");
  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_strchomp (lines[i]);
      if (strcmp (lines[i], "-----BEGIN CERTIFICATE-----") == 0)
        begun++;
      else if (strcmp (lines[i], "-----END CERTIFICATE-----") != 0 &&
               strstr (lines[i], "---") != NULL)
        return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_VALUE,
                             "%s, line %u: neither -----BEGIN CERTIFICATE----- nor "
                             "-----END CERTIFICATE-----",
                             name, i + 1);
    }
  return begun == found || bad_file (error, name, "holds a certificate that cannot be read");
}

static gboolean
add_file (AttestationRoots *roots, const char *name, GBytes *bytes, GError **error)
{
  gsize len;
  const void *data = g_bytes_get_data (bytes, &len);
  g_autoptr (BIO) bio = BIO_new_mem_buf (data, (int) len);
  guint found = 0;

  if (bio == NULL)
    return out_of_memory (error);
  for (;; found++)
    {
      g_autoptr (X509) certificate = PEM_read_bio_X509 (bio, NULL, NULL, NULL);

      if (certificate == NULL)
        break;
      if (!is_authority (certificate))
        return bad_file (error, name, "holds a certificate that is of no authority");
      if (X509_STORE_add_cert (roots->store, certificate) != 1)
        return bad_file (error, name, "holds a certificate that cannot be taken");
    }
  /* the reader ends at the end of the file in just this way, at damage in another */
  if (found == 0 || ERR_GET_REASON (ERR_peek_last_error ()) != PEM_R_NO_START_LINE)
    return bad_file (error, name, "is not a PEM file of certificates");
  ERR_clear_error ();
  if (!check_lines (name, data, len, found, error))
    return FALSE;
  roots->n += found;
  return TRUE;
}

static gboolean
add_named (AttestationRoots *roots, int dirfd, const char *name, uid_t owner, GError **error)
{
  g_autoptr (GBytes) bytes = NULL;

  if (!g_str_has_suffix (name, ATTESTATION_ROOTS_SUFFIX))
    return bad_file (error, name, "is not named *" ATTESTATION_ROOTS_SUFFIX);
  bytes = file_read_trusted (dirfd, name, owner, ATTESTATION_ROOTS_FILE_MAX, error);
  return bytes != NULL && add_file (roots, name, bytes, error);
}

static gboolean
add_all (AttestationRoots *roots, int dirfd, uid_t owner, GError **error)
{
  int again = openat (dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  g_autoptr (DIR) dir = again >= 0 ? fdopendir (again) : NULL;
  guint files = 0;

  if (dir == NULL && again >= 0)
    close (again);
  if (dir == NULL)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                         "the folder of attestation authorities: %s", g_strerror (errno));
  for (;;)
    {
      const struct dirent *entry = NULL;

      errno = 0;
      entry = readdir (dir);
      if (entry == NULL && errno != 0)
        return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                             "the folder of attestation authorities: %s", g_strerror (errno));
      if (entry == NULL)
        return TRUE;
      if (entry->d_name[0] == '.')
        continue;
      if (++files > ATTESTATION_ROOTS_FILES_MAX)
        return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_TOO_LARGE,
                             "over %d files of attestation authorities",
                             ATTESTATION_ROOTS_FILES_MAX);
      if (!add_named (roots, dirfd, entry->d_name, owner, error))
        return FALSE;
    }
}

AttestationRoots *
attestation_roots_load (const char *path, uid_t owner, GError **error)
{
  g_autoptr (AttestationRoots) roots = g_new0 (AttestationRoots, 1);
  g_autoptr (GError) local = NULL;
  autofd dirfd = dir_open_trusted (AT_FDCWD, path, owner, &local);

  roots->store = X509_STORE_new ();
  if (roots->store == NULL)
    {
      out_of_memory (error);
      return NULL;
    }
  if (dirfd < 0 && g_error_matches (local, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    return g_steal_pointer (&roots);
  if (dirfd < 0)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return NULL;
    }
  return add_all (roots, dirfd, owner, error) ? g_steal_pointer (&roots) : NULL;
}

gboolean
attestation_roots_verify (const AttestationRoots *roots,
                          const Attestation *attestation,
                          const guint8 aaguid[16],
                          GBytes *signed_data,
                          GError **error)
{
  return chain_verify (roots->store, attestation, aaguid, signed_data, error);
}
