/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From words to typed arguments.  It only finds the type that the action declares; whether a value is
 * right is the service's to say, so values pass as they are.
 */
#include "agentlib/cli/arguments.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

typedef struct
{
  char *name;
  gboolean is_file;
  const char *value; /* into the word */
} Word;

static void
word_clear (gpointer word)
{
  g_free (((Word *) word)->name);
}

static gboolean
fail (GError **error, const char *reason, const char *name, const char *text)
{
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, reason, "%s: %s", name, text);
}

static gboolean
word_parse (const char *text, Word *out_word, GError **error)
{
  const char *equals = strchr (text, '=');
  gsize length;

  if (equals == NULL || equals == text)
    return fail (error, US_REASON_BAD_VALUE, text, "expected NAME=VALUE or NAME@=FILE");
  length = (gsize) (equals - text);
  out_word->is_file = text[length - 1] == '@';
  if (out_word->is_file)
    length--;
  out_word->name = g_strndup (text, length);
  out_word->value = equals + 1;
  return TRUE;
}

/* The signature of an argument, or NULL with an error that names those there are. */
static char *
find_signature (GVariant *description, const char *name, GError **error)
{
  g_autoptr (GVariant) arguments =
      g_variant_lookup_value (description, "arguments", G_VARIANT_TYPE ("aa{sv}"));
  g_autoptr (GString) names = g_string_new (NULL);
  GVariantIter iter;
  GVariant *argument;

  if (arguments == NULL)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                    "the service did not describe the action's arguments");
      return NULL;
    }
  g_variant_iter_init (&iter, arguments);
  while ((argument = g_variant_iter_next_value (&iter)) != NULL)
    {
      g_autoptr (GVariant) one = argument;
      const char *other = NULL, *signature = NULL;

      if (!g_variant_lookup (one, "name", "&s", &other) ||
          !g_variant_lookup (one, "signature", "&s", &signature))
        continue;
      if (strcmp (other, name) == 0)
        return g_strdup (signature);
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", other);
    }
  us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_UNKNOWN_ARGUMENT,
                "%s: the action has no such argument; it has: %s", name,
                names->len > 0 ? names->str : "none");
  return NULL;
}

/* All values of one name, as a list that ends in NULL. */
static GPtrArray *
collect (GArray *words, const char *name, gboolean is_file, GError **error)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new ();

  for (guint i = 0; i < words->len; i++)
    {
      const Word *word = &g_array_index (words, Word, i);

      if (strcmp (word->name, name) != 0)
        continue;
      if (word->is_file != is_file)
        {
          fail (error, US_REASON_WRONG_TYPE, name,
                is_file ? "this argument is a file: write NAME@=FILE"
                        : "this argument is no file: write NAME=VALUE");
          return NULL;
        }
      g_ptr_array_add (values, (gpointer) word->value);
    }
  g_ptr_array_add (values, NULL);
  return g_steal_pointer (&values);
}

static gboolean
add_boolean (UsSubmission *submission, const char *name, const char *value, GError **error)
{
  if (strcmp (value, "yes") != 0 && strcmp (value, "no") != 0)
    return fail (error, US_REASON_BAD_VALUE, name, "a boolean is yes or no");
  return us_submission_add_boolean (submission, name, strcmp (value, "yes") == 0, error);
}

static gboolean
add_argument (UsSubmission *submission,
              const char *name,
              const char *signature,
              GArray *words,
              GError **error)
{
  gboolean is_file = strchr (signature, 'h') != NULL;
  gboolean is_list = signature[0] == 'a';
  g_autoptr (GPtrArray) values = collect (words, name, is_file, error);
  const char *const *list;

  if (values == NULL)
    return FALSE;
  list = (const char *const *) values->pdata;
  if (!is_list && list[1] != NULL)
    return fail (error, US_REASON_DUPLICATE_ARGUMENT, name, "given twice, and not a list");
  if (strcmp (signature, "s") == 0)
    return us_submission_add_string (submission, name, list[0], error);
  if (strcmp (signature, "b") == 0)
    return add_boolean (submission, name, list[0], error);
  if (strcmp (signature, "as") == 0)
    return us_submission_add_strings (submission, name, list, error);
  if (strcmp (signature, "(sh)") == 0)
    return us_submission_add_file (submission, name, list[0], error);
  if (strcmp (signature, "a(sh)") == 0)
    return us_submission_add_files (submission, name, list, error);
  return fail (error, US_REASON_WRONG_TYPE, name, "of a type that this program does not know");
}

/* Whether the name of word @i came before. */
static gboolean
is_repeated (GArray *words, guint i)
{
  for (guint j = 0; j < i; j++)
    if (strcmp (g_array_index (words, Word, j).name, g_array_index (words, Word, i).name) == 0)
      return TRUE;
  return FALSE;
}

static GArray *
parse_all (const char *const *texts, GError **error)
{
  g_autoptr (GArray) words = g_array_new (FALSE, TRUE, sizeof (Word));

  g_array_set_clear_func (words, word_clear);
  for (guint i = 0; texts[i] != NULL; i++)
    {
      Word word = { NULL, FALSE, NULL };

      if (!word_parse (texts[i], &word, error))
        return NULL;
      g_array_append_val (words, word);
    }
  return g_steal_pointer (&words);
}

gboolean
arguments_check (const char *const *texts, GError **error)
{
  g_autoptr (GArray) words = parse_all (texts, error);

  return words != NULL;
}

gboolean
arguments_add (UsSubmission *submission,
               GVariant *description,
               const char *const *texts,
               GError **error)
{
  g_autoptr (GArray) words = parse_all (texts, error);

  if (words == NULL)
    return FALSE;
  for (guint i = 0; i < words->len; i++)
    {
      const char *name = g_array_index (words, Word, i).name;
      g_autofree char *signature = NULL;

      if (is_repeated (words, i))
        continue;
      signature = find_signature (description, name, error);
      if (signature == NULL || !add_argument (submission, name, signature, words, error))
        return FALSE;
    }
  return TRUE;
}
