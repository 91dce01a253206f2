/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersignctl audit verify over files.  A line "%WORD" begins what is given as --WORD: "file" and
 * "against" are the lines that follow, "key" and "head" the one that does.  A line behind "@" is the
 * body of a checkpoint, which is signed here; "~" is a line that is longer than entries may be.  A log
 * that is found whole is no longer so once its end is cut off, and it holds the head that was printed,
 * and no other.
 */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/chain.h"
#include "service/base/memfd.h"
#include "service/ctl/audit.h"
#include "tests/fuzz/host-key.h"
#include "tests/fuzz/refusal.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

#define LINES_MAX 100
#define WORDS_MAX 8

typedef struct
{
  GPtrArray *files, *against, *keys; /* paths, with NULL at the end once they are given */
  GString *last;                     /* content of the last file */
  GArray *fds;
  char *head;
} Given;

static gpointer
option (const char *name)
{
  for (const GOptionEntry *entry = verify_options; entry->long_name != NULL; entry++)
    if (strcmp (entry->long_name, name) == 0)
      return entry->arg_data;
  g_assert_not_reached ();
}

static char *
file_with (Given *given, const GString *content)
{
  int fd = memfd_new_sealed ("fuzz", content->str, content->len, NULL);

  g_assert (fd >= 0);
  g_array_append_val (given->fds, fd);
  return g_strdup_printf ("/proc/self/fd/%d", fd);
}

static void
append_line (GString *content, const char *line)
{
  g_autoptr (GBytes) body = NULL;
  g_autoptr (GBytes) written = NULL;

  if (line[0] == '@' && line[1] != '\0' && g_utf8_validate (line, -1, NULL))
    {
      body = g_bytes_new (line + 1, strlen (line + 1));
      written = host_key_sign (body);
      g_string_append_len (content, g_bytes_get_data (written, NULL),
                           (gssize) g_bytes_get_size (written));
    }
  else if (strcmp (line, "~") == 0)
    g_string_append_printf (content, "%*s", CHAIN_ENTRY_MAX + 1, "");
  else
    g_string_append (content, line);
  g_string_append_c (content, '\n');
}

/* One option, with the lines up to the next: their number. */
static guint
take_option (Given *given, char **lines)
{
  g_autoptr (GString) content = g_string_new (NULL);
  GPtrArray *list = strcmp (lines[0], "%file") == 0      ? given->files
                    : strcmp (lines[0], "%against") == 0 ? given->against
                                                         : NULL;
  guint n = 1;

  for (; lines[n] != NULL && lines[n][0] != '%'; n++)
    if (lines[n][0] != '\0' || lines[n + 1] != NULL)
      append_line (content, lines[n]);
  if (list != NULL && list->len < WORDS_MAX)
    {
      g_ptr_array_add (list, file_with (given, content));
      if (list == given->files)
        g_string_assign (given->last, content->str);
    }
  if (strcmp (lines[0], "%key") == 0 && n > 1)
    g_ptr_array_add (given->keys, g_str_has_prefix (lines[1], "sha256:")
                                      ? g_strdup (lines[1])
                                      : file_with (given, content));
  if (strcmp (lines[0], "%head") == 0 && n > 1)
    {
      g_free (given->head);
      given->head = g_strdup (lines[1]);
    }
  return n;
}

static gboolean
verify (const Given *given, gboolean json, char **out_text, GError **error)
{
  static const CtlConfig nowhere = { .address = "unix:path=/nonexistent" };
  Ctl ctl = { .config = &nowhere, .json = json };
  FILE *terminal = stdout;
  gsize len = 0;
  gboolean ok = FALSE;

  *(gpointer *) option ("file") = given->files->len > 1 ? given->files->pdata : NULL;
  *(gpointer *) option ("against") = given->against->pdata;
  *(gpointer *) option ("key") = given->keys->pdata;
  *(char **) option ("head") = given->head;
  stdout = open_memstream (out_text, &len);
  g_assert (stdout != NULL);
  ok = run_verify (&ctl, NULL, error);
  fclose (stdout);
  stdout = terminal;
  g_free (ctl.owner);
  g_clear_object (&ctl.bus);
  return ok;
}

static void
check_refused (const Given *given, const char *reason)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  g_assert (!verify (given, FALSE, &text, &error));
  g_assert (us_error_has_reason (error, reason));
  g_assert (text[0] == '\0');
}

/* @text: what was printed, JSON, of a log that is whole */
static void
check_whole (Given *given, const char *text)
{
  g_autofree char *head = g_strdup (strstr (text, "\"head\":\"sha256:") + strlen ("\"head\":\""));
  char *at = head + strlen ("sha256:");
  g_autofree char *again = NULL;

  g_assert (strstr (text, "\"valid\":true") != NULL);
  if (strstr (text, "\"entries\":\"0\"") != NULL)
    return;
  at[64] = '\0';
  g_free (given->head);
  given->head = head;
  g_assert (verify (given, FALSE, &again, NULL));
  g_assert (g_str_has_prefix (again, "the audit log is whole: "));
  at[0] = at[0] == '0' ? '1' : '0';
  check_refused (given, US_REASON_CHECKPOINT);
  given->head = NULL;

  g_string_truncate (given->last, given->last->len - 1);
  g_free (given->files->pdata[given->files->len - 2]);
  given->files->pdata[given->files->len - 2] = file_with (given, given->last);
  check_refused (given, US_REASON_CHAIN);
}

static void
given_clear (Given *given)
{
  for (guint i = 0; i < given->fds->len; i++)
    close (g_array_index (given->fds, int, i));
  g_array_unref (given->fds);
  g_ptr_array_unref (given->files);
  g_ptr_array_unref (given->against);
  g_ptr_array_unref (given->keys);
  g_string_free (given->last, TRUE);
  g_free (given->head);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree char *input = g_strndup (size > 0 ? (const char *) data : "", size);
  g_auto (GStrv) lines = g_strsplit (input, "\n", LINES_MAX);
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  Given given = {
    .files = g_ptr_array_new_with_free_func (g_free),
    .against = g_ptr_array_new_with_free_func (g_free),
    .keys = g_ptr_array_new_with_free_func (g_free),
    .last = g_string_new (NULL),
    .fds = g_array_new (FALSE, FALSE, sizeof (int)),
  };
  gboolean ok = FALSE;

  for (guint i = 0; lines[i] != NULL;)
    i += take_option (&given, lines + i);
  g_ptr_array_add (given.files, NULL);
  g_ptr_array_add (given.against, NULL);
  g_ptr_array_add (given.keys, NULL);
  ok = verify (&given, TRUE, &text, &error);
  g_assert (ok == (error == NULL) && ok == (text[0] != '\0'));
  refusal_seen (error);
  if (ok)
    check_whole (&given, text);
  given_clear (&given);
  return 0;
}
