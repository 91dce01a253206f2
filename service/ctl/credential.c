/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersignctl credential set, remove.  The secret comes from standard input, or is asked for on a
 * terminal without showing it; it is never an argument and is kept in locked memory only.
 */
#include "service/ctl/credential.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/memfd.h"
#include "service/base/secret.h"
#include "service/ctl/bus.h"
#include "service/ctl/ctl.h"
#include "service/ctl/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#define SECRET_MAX (1024 * 1024)

static gboolean keep_newline = FALSE;

static const GOptionEntry set_options[] = {
  { "keep-newline", 0, 0, G_OPTION_ARG_NONE, &keep_newline,
    "Keep a line feed at the end, which is removed otherwise", NULL },
  G_OPTION_ENTRY_NULL,
};

/* One line from a terminal, not echoed.  The terminal's own buffer ends it at a line feed. */
static Secret *
secret_ask (const char *prompt, GError **error)
{
  g_autoptr (Secret) line = secret_new (4096);
  struct termios before, quiet;
  ssize_t got = -1;

  if (line == NULL || tcgetattr (STDIN_FILENO, &before) != 0)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot ask for a secret");
      return NULL;
    }
  quiet = before;
  quiet.c_lflag &= ~(tcflag_t) (ECHO | ECHOE | ECHOK | ECHONL);
  /* In this order: what is typed once the prompt is there is neither shown nor thrown away. */
  tcsetattr (STDIN_FILENO, TCSAFLUSH, &quiet);
  fputs (prompt, stderr);
  got = read (STDIN_FILENO, secret_data (line), secret_size (line));
  tcsetattr (STDIN_FILENO, TCSAFLUSH, &before);
  fputc ('\n', stderr);
  if (got <= 0)
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE, "there is no secret");
      return NULL;
    }
  return secret_new_from (secret_data (line), (gsize) got);
}

static Secret *
secret_get (GError **error)
{
  g_autoptr (Secret) secret = isatty (STDIN_FILENO)
                                  ? secret_ask ("Secret: ", error)
                                  : secret_new_read (STDIN_FILENO, SECRET_MAX, error);
  gsize len = 0;

  if (secret == NULL)
    return NULL;
  len = secret_size (secret);
  if (len > 0 && !keep_newline && secret_data (secret)[len - 1] == '\n')
    len--;
  if (len == 0)
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE, "the secret is empty");
      return NULL;
    }
  return secret_new_from (secret_data (secret), len);
}

/* Keeps a memfd in memory, and out of core dumps, until its mapping goes. */
static void *
pages_lock (int fd, gsize size, GError **error)
{
  void *pages = mmap (NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

  if (pages != MAP_FAILED && mlock (pages, size) == 0 && madvise (pages, size, MADV_DONTDUMP) == 0)
    return pages;
  us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot lock memory (RLIMIT_MEMLOCK): %s",
                g_strerror (errno));
  if (pages != MAP_FAILED)
    munmap (pages, size);
  return NULL;
}

/* By a sealed memfd, which the service does not wait for; an administrator may take his time with
 * polkit's question. */
static gboolean
secret_give (Ctl *ctl, const char *module, const char *name, Secret *secret, GError **error)
{
  const gsize size = secret_size (secret);
  autofd fd = memfd_new_sealed ("credential", secret_data (secret), size, error);
  void *pages = fd >= 0 ? pages_lock (fd, size, error) : NULL;
  g_autoptr (GVariant) reply = NULL;

  if (pages == NULL)
    return FALSE;
  reply = bus_call (ctl, "SetCredential", g_variant_new ("(ssh)", module, name, 0), fd, "()", error);
  munmap (pages, size);
  return reply != NULL;
}

gboolean
credential_account (Ctl *ctl, const char *module, const char *name, const char *user, GError **error)
{
  g_autoptr (Secret) password = secret_ask ("  Password: ", error);
  g_autoptr (Secret) both = NULL;
  gsize length = strlen (user), more = 0;

  if (password == NULL)
    return FALSE;
  more = secret_size (password);
  if (secret_data (password)[more - 1] == '\n')
    more--;
  if (more == 0)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "there is no password");
  both = secret_new (length + 1 + more);
  if (both == NULL)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "no locked memory");
  memcpy (secret_data (both), user, length);
  secret_data (both)[length] = '\n';
  memcpy (secret_data (both) + length + 1, secret_data (password), more);
  return secret_give (ctl, module, name, both, error);
}

static gboolean
run_set (Ctl *ctl, char **arguments, GError **error)
{
  g_autoptr (Secret) secret = secret_get (error);

  if (secret == NULL || !secret_give (ctl, arguments[0], arguments[1], secret, error))
    return FALSE;
  output_done (ctl->json, "stored; the module has it at the next start of its runner");
  return TRUE;
}

static gboolean
run_remove (Ctl *ctl, char **arguments, GError **error)
{
  return bus_do (ctl, "RemoveCredential", g_variant_new ("(ss)", arguments[0], arguments[1]),
                 "removed", error);
}

const CtlVerb credential_verbs[] = {
  { "credential set", "MODULE NAME", "Give a module a credential, read from standard input", 2, 2,
    set_options, run_set },
  { "credential remove", "MODULE NAME", "Remove a module's credential", 2, 2, NULL, run_remove },
  { NULL, NULL, NULL, 0, 0, NULL, NULL },
};
