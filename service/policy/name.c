/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Predicates over names.  They look at nothing but the text; whether something of that name exists
 * is the caller's question.
 */
#include "service/policy/name.h"

#include <string.h>

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

/* Whether @text, up to @len, starts with one of @first and goes on with those of @rest. */
static gboolean
spans (const char *text, gsize len, const char *first, const char *rest)
{
  if (len == 0 || strchr (first, text[0]) == NULL)
    return FALSE;
  return strspn (text + 1, rest) >= len - 1;
}

static gboolean
is_word (const char *text, gsize max, const char *first, const char *rest)
{
  gsize len = strlen (text);

  return len <= max && spans (text, len, first, rest);
}

/* Words between full stops, the first without '-'; returns how many, 0 where one is malformed. */
static guint
count_action_words (const char *text)
{
  guint words = 0;

  if (strlen (text) > NAME_MAX_ACTION)
    return 0;
  for (;;)
    {
      gsize len = strcspn (text, ".");

      if (!spans (text, len, LOWER, words == 0 ? LOWER DIGITS : LOWER DIGITS "-"))
        return 0;
      words++;
      if (text[len] == '\0')
        return words;
      text += len + 1;
    }
}

gboolean
name_is_action_id (const char *text)
{
  return count_action_words (text) >= 2;
}

gboolean
name_is_action_prefix (const char *text)
{
  return count_action_words (text) >= 1;
}

gboolean
name_is_plain (const char *text)
{
  return is_word (text, NAME_MAX_PLAIN, LOWER, LOWER DIGITS "-");
}

gboolean
name_is_module (const char *text)
{
  return is_word (text, NAME_MAX_MODULE, LOWER, LOWER DIGITS "-");
}

gboolean
name_is_member (const char *text)
{
  return is_word (text, NAME_MAX_PLAIN, LOWER, LOWER DIGITS "_-");
}

gboolean
name_is_setting (const char *text)
{
  if (strlen (text) > NAME_MAX_PLAIN)
    return FALSE;
  for (;;)
    {
      gsize len = strcspn (text, "-");

      if (!spans (text, len, LOWER, LOWER DIGITS))
        return FALSE;
      if (text[len] == '\0')
        return TRUE;
      text += len + 1;
    }
}

gboolean
name_is_credential (const char *text)
{
  return is_word (text, NAME_MAX_PLAIN, LOWER DIGITS, LOWER DIGITS "._-") &&
         strstr (text, "..") == NULL;
}

gboolean
name_is_user (const char *text)
{
  return is_word (text, NAME_MAX_USER, LOWER UPPER DIGITS "_", LOWER UPPER DIGITS "._-+$@") &&
         strspn (text, DIGITS) != strlen (text);
}

gboolean
name_is_service_user (const char *user)
{
  return strcmp (user, "undersign") == 0 || g_str_has_prefix (user, "undersign-");
}
