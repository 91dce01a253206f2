/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Header fields and encodings.  Pure functions: no file, no network, no clock.  A value that could
 * end a line was refused before; should one come here all the same, the process ends rather than
 * write it.
 */
#include "module/executor/mail/mime.h"

#include <string.h>
#include <time.h>

#define MAX_LINE 76
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define LOCAL_CHARACTERS NAME_CHARACTERS ".!#$%&'*+-/=?^_`{|}~"
#define DOMAIN_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789.-"
#define WORD_BEGIN "=?utf-8?B?"
#define WORD_END "?="
#define PARAMETER_PLAIN_MAX 50

gboolean
value_is_clean (const char *value)
{
  if (!g_utf8_validate (value, -1, NULL))
    return FALSE;
  for (const char *c = value; *c != '\0'; c = g_utf8_next_char (c))
    if (g_unichar_iscntrl (g_utf8_get_char (c)))
      return FALSE;
  return TRUE;
}

gboolean
address_is_clean (const char *address)
{
  gsize local = strspn (address, LOCAL_CHARACTERS);
  gsize domain = 0;

  if (local == 0 || address[local] != '@')
    return FALSE;
  domain = strspn (address + local + 1, DOMAIN_CHARACTERS);
  return domain > 0 && address[local + 1 + domain] == '\0';
}

static gboolean
is_ascii (const char *text)
{
  for (; *text != '\0'; text++)
    if (!g_ascii_isprint (*text))
      return FALSE;
  return TRUE;
}

/* --- addresses --- */

void
header_add_addresses (GString *out, const char *name, const char *const *addresses)
{
  gsize start = out->len;

  g_string_append_printf (out, "%s:", name);
  for (guint i = 0; addresses[i] != NULL; i++)
    {
      const char *comma = addresses[i + 1] != NULL ? "," : "";

      g_assert (address_is_clean (addresses[i]));
      if (i > 0 && out->len - start + 1 + strlen (addresses[i]) + strlen (comma) > MAX_LINE)
        {
          g_string_append (out, "\r\n");
          start = out->len;
        }
      g_string_append_printf (out, " %s%s", addresses[i], comma);
    }
  g_string_append (out, "\r\n");
}

/* --- unstructured text --- */

/* Left as it is where every reader reads it back the same: short, plain, no spaces to lose. */
static gboolean
text_needs_no_encoding (const char *name, const char *text)
{
  gsize len = strlen (text);

  return is_ascii (text) && strstr (text, "=?") == NULL && text[0] != ' ' &&
         (len == 0 || text[len - 1] != ' ') && strlen (name) + 2 + len <= MAX_LINE;
}

/* How many bytes of @text make whole characters within @room bytes; at least one character. */
static gsize
take_characters (const char *text, gsize room)
{
  const char *end = g_utf8_next_char (text);

  while (*end != '\0' && (gsize) (g_utf8_next_char (end) - text) <= room)
    end = g_utf8_next_char (end);
  return (gsize) (end - text);
}

void
header_add_text (GString *out, const char *name, const char *text)
{
  gsize overhead = strlen (WORD_BEGIN) + strlen (WORD_END);
  gsize column = strlen (name) + 1;

  g_assert (value_is_clean (text));

  g_string_append_printf (out, "%s:", name);
  if (text_needs_no_encoding (name, text))
    {
      g_string_append_printf (out, " %s\r\n", text);
      return;
    }
  while (*text != '\0')
    {
      gsize n = take_characters (text, (MAX_LINE - column - 1 - overhead) / 4 * 3);
      g_autofree char *encoded = g_base64_encode ((const guchar *) text, n);

      g_string_append_printf (out, " %s%s%s\r\n", WORD_BEGIN, encoded, WORD_END);
      text += n;
      column = 0;
    }
}

/* --- date --- */

void
header_add_date (GString *out, gint64 seconds)
{
  static const char *const days[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
  static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
  time_t when = (time_t) seconds;
  struct tm date;

  g_assert (gmtime_r (&when, &date) != NULL);
  g_string_append_printf (out, "Date: %s, %02d %s %04d %02d:%02d:%02d +0000\r\n",
                          days[date.tm_wday], date.tm_mday, months[date.tm_mon],
                          date.tm_year + 1900, date.tm_hour, date.tm_min, date.tm_sec);
}

/* --- file names --- */

static char *
percent_encode (const char *text)
{
  GString *out = g_string_new (NULL);

  for (; *text != '\0'; text++)
    if (g_ascii_isalnum (*text) || strchr ("._-", *text) != NULL)
      g_string_append_c (out, *text);
    else
      g_string_append_printf (out, "%%%02X", (guchar) *text);
  return g_string_free (out, FALSE);
}

/* The continuations of RFC 2231; no line breaks a percent sign from its digits. */
static void
add_continuations (GString *out, const char *encoded)
{
  for (guint i = 0; *encoded != '\0'; i++)
    {
      g_autofree char *begin = g_strdup_printf (" filename*%u*=%s", i, i == 0 ? "utf-8''" : "");
      gsize room = MAX_LINE - 1 - strlen (begin);
      gsize n = MIN (strlen (encoded), room);

      if (encoded[n] != '\0' && encoded[n - 1] == '%')
        n -= 1;
      else if (encoded[n] != '\0' && n >= 2 && encoded[n - 2] == '%')
        n -= 2;
      g_string_append_printf (out, "\r\n%s%.*s", begin, (int) n, encoded);
      encoded += n;
      if (*encoded != '\0')
        g_string_append_c (out, ';');
    }
}

void
header_add_attachment (GString *out, const char *file_name)
{
  g_autofree char *encoded = percent_encode (file_name);

  g_assert (value_is_clean (file_name));

  g_string_append (out, "Content-Disposition: attachment;");
  if (strlen (file_name) <= PARAMETER_PLAIN_MAX &&
      strspn (file_name, NAME_CHARACTERS "._+- ") == strlen (file_name))
    g_string_append_printf (out, "\r\n filename=\"%s\"", file_name);
  else if (strlen (encoded) <= PARAMETER_PLAIN_MAX)
    g_string_append_printf (out, "\r\n filename*=utf-8''%s", encoded);
  else
    add_continuations (out, encoded);
  g_string_append (out, "\r\n");
}

/* --- bodies --- */

/* What must not stand for itself: a line that begins with a dot or "From " is touched on its way.
 */
static gboolean
quoted_printable_is_literal (const char *text, gsize column)
{
  if (*text == ' ' || *text == '\t')
    return text[1] != '\n' && text[1] != '\0';
  if (!g_ascii_isgraph (*text) || *text == '=')
    return FALSE;
  return column > 0 || (*text != '.' && !g_str_has_prefix (text, "From "));
}

void
quoted_printable_add (GString *out, const char *text)
{
  gsize column = 0;

  for (; *text != '\0'; text++)
    {
      gboolean last = text[1] == '\n' || text[1] == '\0';
      gsize width = quoted_printable_is_literal (text, column) ? 1 : 3;

      if (*text == '\n')
        {
          g_string_append (out, "\r\n");
          column = 0;
          continue;
        }
      /* A soft break takes one more column, the last character of a line does not need it. */
      if (column + width > (last ? MAX_LINE : MAX_LINE - 1))
        {
          g_string_append (out, "=\r\n");
          column = 0;
          width = quoted_printable_is_literal (text, column) ? 1 : 3;
        }
      if (width == 1)
        g_string_append_c (out, *text);
      else
        g_string_append_printf (out, "=%02X", (guchar) *text);
      column += width;
    }
}

guint64
base64_size (guint64 size)
{
  guint64 lines = (size + BASE64_LINE_BYTES - 1) / BASE64_LINE_BYTES;

  return (size + 2) / 3 * 4 + 2 * lines;
}

void
base64_add (GString *out, const guint8 *data, gsize len)
{
  while (len > 0)
    {
      gsize n = MIN (len, BASE64_LINE_BYTES);
      g_autofree char *line = g_base64_encode (data, n);

      g_string_append_printf (out, "%s\r\n", line);
      data += n;
      len -= n;
    }
}
