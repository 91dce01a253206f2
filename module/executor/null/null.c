/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The module "null": an executor without an effect on anyone, for rehearsing policies and for
 * tests. All it can do is append a line to a file, and end in each way that a module can end.
 *
 *   marker    file that gets the line "REQUEST ACTION DIGEST" where an effect would take place
 *   outcome   of execute: done (also for ""), failed, unknown, crash, hang or garbage
 *   describe  of describe, likewise
 *   fact      NAME=VALUE: the fact that describe gives
 */
#include "service/abi/undersign-module.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

US_SM_DEFINE_ABI

#define DIGEST_SIZE 32
#define GARBAGE 42
#define CHUNK 65536
#define MAX_FACT_NAME 64

/* digest_warm: what the library would otherwise fetch and build while somebody waits: a runner loads
 * its module before it is called. */
__attribute__ ((constructor)) static void
digest_warm (void)
{
  unsigned char digest[DIGEST_SIZE];

  EVP_Digest ("", 0, digest, NULL, EVP_sha256 (), NULL);
}

static void
hash_string (EVP_MD_CTX *context, const char *string)
{
  EVP_DigestUpdate (context, string, strlen (string) + 1);
}

static int
hash_file (EVP_MD_CTX *context, const struct us_sm_file *file)
{
  static unsigned char chunk[CHUNK];
  uint64_t done = 0;

  hash_string (context, file->name);
  while (done < file->size)
    {
      ssize_t n = pread (file->fd, chunk, sizeof chunk, (off_t) done);

      if (n <= 0)
        return -1;
      EVP_DigestUpdate (context, chunk, (size_t) n);
      done += (uint64_t) n;
    }
  return 0;
}

/* hash_argument: its name, and its value by whichever getter has it. */
static int
hash_argument (EVP_MD_CTX *context, const us_sm_handle *handle, const char *name)
{
  const char *string = us_sm_string (handle, name);
  size_t count = 0;
  const char *const *strings = us_sm_strings (handle, name, &count);
  const struct us_sm_file *files = strings == NULL ? us_sm_files (handle, name, &count) : NULL;
  int boolean = us_sm_boolean (handle, name);

  hash_string (context, name);
  if (string != NULL)
    hash_string (context, string);
  else if (boolean >= 0)
    hash_string (context, boolean ? "yes" : "no");
  else if (strings != NULL)
    for (size_t i = 0; i < count; i++)
      hash_string (context, strings[i]);
  else if (files != NULL)
    for (size_t i = 0; i < count; i++)
      {
        if (hash_file (context, &files[i]) < 0)
          return -1;
      }
  else
    return -1;
  return 0;
}

static int
digest_arguments (const us_sm_handle *handle, unsigned char out_digest[DIGEST_SIZE])
{
  EVP_MD_CTX *context = EVP_MD_CTX_new ();
  const char *name = NULL;
  int ok = context != NULL && EVP_DigestInit_ex (context, EVP_sha256 (), NULL) == 1;

  for (size_t i = 0; ok && (name = us_sm_argument_name (handle, i)) != NULL; i++)
    ok = hash_argument (context, handle, name) == 0;
  ok = ok && EVP_DigestFinal_ex (context, out_digest, NULL) == 1;
  EVP_MD_CTX_free (context);
  return ok ? 0 : -1;
}

/* append_line: 0 once the line is on disk. */
static int
append_line (const char *path, const char *line)
{
  size_t len = strlen (line);
  int fd = open (path, O_CREAT | O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
  int ok = fd >= 0 && write (fd, line, len) == (ssize_t) len && fsync (fd) == 0;

  if (fd >= 0 && close (fd) < 0)
    ok = 0;
  return ok ? 0 : -1;
}

/* mark: the effect of this module. */
static int
mark (const us_sm_handle *handle, const char *path)
{
  unsigned char digest[DIGEST_SIZE];
  char hex[2 * DIGEST_SIZE + 1] = "";
  char line[512];
  int len = 0;

  if (digest_arguments (handle, digest) < 0)
    return -1;
  for (size_t i = 0; i < DIGEST_SIZE; i++)
    snprintf (hex + 2 * i, 3, "%02x", digest[i]);
  len = snprintf (line, sizeof line, "%s %s %s\n", us_sm_request (handle), us_sm_action (handle),
                  hex);
  if (len < 0 || (size_t) len >= sizeof line)
    return -1;
  return append_line (path, line);
}

/* end_as: what the setting says; anything else was refused before. */
static int
end_as (const char *outcome)
{
  if (strcmp (outcome, "unknown") == 0)
    return US_SM_UNKNOWN;
  if (strcmp (outcome, "garbage") == 0)
    return GARBAGE;
  if (strcmp (outcome, "crash") == 0)
    abort ();
  while (strcmp (outcome, "hang") == 0)
    pause ();
  return strcmp (outcome, "failed") == 0 ? US_SM_FAILED : US_SM_DONE;
}

static int
outcome_is_known (const char *outcome)
{
  static const char *const known[] = { "",      "done", "failed",  "unknown",
                                       "crash", "hang", "garbage", NULL };

  for (size_t i = 0; known[i] != NULL; i++)
    if (strcmp (known[i], outcome) == 0)
      return 1;
  return 0;
}

static int
fail (us_sm_handle *handle, const char *text)
{
  us_sm_set_result (handle, text);
  return US_SM_FAILED;
}

US_SM_EXPORT int
us_sm_execute (us_sm_handle *handle)
{
  const char *marker = us_sm_setting (handle, "marker");
  const char *outcome = us_sm_setting (handle, "outcome");

  if (marker == NULL || outcome == NULL || !outcome_is_known (outcome))
    return fail (handle, "a setting is missing or unknown");
  if (strcmp (outcome, "failed") == 0)
    return fail (handle, "failed as the setting says");

  /* A line may be there in part: not even this module can then say that there was no effect. */
  if (*marker != '\0' && mark (handle, marker) < 0)
    {
      us_sm_set_result (handle, "the marker cannot be written");
      return US_SM_UNKNOWN;
    }
  us_sm_set_result (handle, "nothing was done, as intended");
  return end_as (outcome);
}

US_SM_EXPORT int
us_sm_describe (us_sm_handle *handle)
{
  const char *fact = us_sm_setting (handle, "fact");
  const char *outcome = us_sm_setting (handle, "describe");
  const char *equals = fact != NULL ? strchr (fact, '=') : NULL;
  char name[MAX_FACT_NAME + 1] = "";

  if (fact == NULL || outcome == NULL || !outcome_is_known (outcome))
    return fail (handle, "a setting is missing or unknown");
  if (*fact != '\0')
    {
      if (equals == NULL || equals - fact > MAX_FACT_NAME)
        return fail (handle, "the setting fact is not NAME=VALUE");
      memcpy (name, fact, (size_t) (equals - fact));
      if (us_sm_add_fact (handle, name, equals + 1) < 0)
        return fail (handle, "the fact is not one that the action declares");
    }
  return end_as (outcome);
}
