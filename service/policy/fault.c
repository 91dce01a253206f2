/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Collects the faults of a set of policy files and turns them into one error.  Used by the loaders
 * of this folder.  It never forgives one.
 */
#include "service/policy/fault.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

#define QUOTE_MAX 80

typedef struct
{
  char *path;
  guint line;
  guint order; /* in which it was found: keeps the order within one line */
  char *text;
} Fault;

struct Faults
{
  GPtrArray *list; /* Fault */
};

static void
fault_free (gpointer data)
{
  Fault *fault = data;

  g_free (fault->path);
  g_free (fault->text);
  g_free (fault);
}

Faults *
faults_new (void)
{
  Faults *faults = g_new0 (Faults, 1);

  faults->list = g_ptr_array_new_with_free_func (fault_free);
  return faults;
}

void
faults_free (Faults *faults)
{
  if (faults == NULL)
    return;
  g_ptr_array_unref (faults->list);
  g_free (faults);
}

void
faults_add (Faults *faults, const char *path, guint line, const char *format, ...)
{
  Fault *fault = g_new0 (Fault, 1);
  va_list args;

  fault->path = g_strdup (path);
  fault->line = line;
  fault->order = faults->list->len;
  va_start (args, format);
  fault->text = g_strdup_vprintf (format, args);
  va_end (args);
  g_ptr_array_add (faults->list, fault);
}

guint
faults_count (const Faults *faults)
{
  return faults->list->len;
}

static int
compare_faults (gconstpointer a, gconstpointer b)
{
  const Fault *left = *(const Fault *const *) a;
  const Fault *right = *(const Fault *const *) b;
  int order = strcmp (left->path, right->path);

  if (order != 0)
    return order;
  if (left->line != right->line)
    return left->line < right->line ? -1 : 1;
  return left->order < right->order ? -1 : 1;
}

gboolean
faults_report (Faults *faults, GError **error)
{
  g_autoptr (GString) text = NULL;
  guint count = faults->list->len;

  if (count == 0)
    return TRUE;

  g_ptr_array_sort (faults->list, compare_faults);
  text = g_string_new (NULL);
  for (guint i = 0; i < MIN (count, FAULTS_MAX_REPORTED); i++)
    {
      const Fault *fault = g_ptr_array_index (faults->list, i);

      g_string_append_printf (text, "%s%s", i > 0 ? "\n" : "", fault->path);
      if (fault->line > 0)
        g_string_append_printf (text, ":%u", fault->line);
      g_string_append_printf (text, ": %s", fault->text);
    }
  if (count > FAULTS_MAX_REPORTED)
    g_string_append_printf (text, "\nand %u more", count - FAULTS_MAX_REPORTED);
  return us_error_set (error, US_ERROR_POLICY_INVALID, US_REASON_POLICY_INVALID, "%s", text->str);
}

char *
quote_text (const char *text)
{
  GString *out = g_string_new ("'");
  const char *p = text;

  while (*p != '\0' && p - text < QUOTE_MAX)
    {
      gunichar c = g_utf8_get_char_validated (p, -1);
      gboolean whole = c != (gunichar) -1 && c != (gunichar) -2;

      if (whole && g_unichar_isprint (c) && g_unichar_type (c) != G_UNICODE_FORMAT)
        {
          g_string_append_unichar (out, c);
          p = g_utf8_next_char (p);
          continue;
        }
      g_string_append_printf (out, "\\x%02x", (guint) (guchar) *p);
      p++;
    }
  g_string_append (out, *p != '\0' ? "'..." : "'");
  return g_string_free (out, FALSE);
}

const char *
error_text (const GError *error)
{
  const char *colon = error->domain == US_ERROR ? strstr (error->message, ": ") : NULL;

  return colon != NULL ? colon + 2 : error->message;
}
