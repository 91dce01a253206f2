/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When= lines as they are read and held against an action.  Only the loader of rules calls this; a
 * line that could not be evaluated for every record of the action is refused here.
 */
#include "service/policy/when.h"

#include "service/policy/constraint.h"
#include "service/policy/fault.h"
#include "service/policy/load.h"
#include "service/policy/name.h"

#include <string.h>

typedef enum
{
  OPERAND_NONE,
  OPERAND_VALUE,
  OPERAND_GLOBS,
} Operand;

static const struct
{
  const char *word;
  WhenTest test;
  Operand operand;
} tests[] = {
  { "any", WHEN_ANY, OPERAND_GLOBS },     { "all", WHEN_ALL, OPERAND_GLOBS },
  { "none", WHEN_NONE, OPERAND_GLOBS },   { "any-not", WHEN_ANY_NOT, OPERAND_GLOBS },
  { "empty", WHEN_EMPTY, OPERAND_NONE },  { "not-empty", WHEN_NOT_EMPTY, OPERAND_NONE },
  { "is", WHEN_IS, OPERAND_VALUE },       { "<=", WHEN_AT_MOST, OPERAND_VALUE },
  { ">=", WHEN_AT_LEAST, OPERAND_VALUE }, { "past", WHEN_PAST, OPERAND_NONE },
};

void
when_free (When *when)
{
  if (when == NULL)
    return;
  g_free (when->text);
  g_strfreev (when->arguments);
  g_strfreev (when->globs);
  g_free (when->value);
  g_free (when);
}

static gboolean refuse (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
refuse (GError **error, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error != NULL)
    *error = g_error_new_valist (G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE, format, args);
  va_end (args);
  return FALSE;
}

/* --- reading --- */

static gboolean
parse_arguments (When *when, const char *text, GError **error)
{
  when->arguments = g_strsplit (text, ",", -1);
  for (guint i = 0; when->arguments[i] != NULL; i++)
    if (!name_is_member (when->arguments[i]))
      {
        g_autofree char *quoted = quote_text (when->arguments[i]);

        return refuse (error, "When=: %s is not the name of an argument", quoted);
      }
  return TRUE;
}

static gboolean
parse_globs (When *when, const char *text, GError **error)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) words = g_strsplit (text != NULL ? text : "", " ", -1);

  for (guint i = 0; words[i] != NULL; i++)
    if (*words[i] != '\0')
      g_strv_builder_add (builder, words[i]);
  when->globs = g_strv_builder_end (builder);
  if (when->globs[0] == NULL || g_strv_length (when->globs) > POLICY_MAX_WORDS)
    return refuse (error, "When=: 1 to %d patterns stand after the operator", POLICY_MAX_WORDS);
  return TRUE;
}

/* @operand: what stands after the operator and one space, or NULL */
static gboolean
parse_operand (When *when, const char *word, const char *operand, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      if (strcmp (tests[i].word, word) != 0)
        continue;
      when->test = tests[i].test;
      if (tests[i].operand == OPERAND_GLOBS)
        return parse_globs (when, operand, error);
      if (when->arguments[1] != NULL)
        return refuse (error, "When=: %s takes one argument", word);
      if (tests[i].operand == OPERAND_VALUE && (operand == NULL || *operand == '\0'))
        return refuse (error, "When=: a value stands after %s", word);
      if (tests[i].operand == OPERAND_NONE && operand != NULL)
        return refuse (error, "When=: nothing stands after %s", word);
      when->value = g_strdup (operand);
      return TRUE;
    }
  return refuse (error,
                 "When=: the operators are any, all, none, any-not, empty, not-empty, is, <=, "
                 ">= and past");
}

When *
when_parse (const char *text, GError **error)
{
  g_autoptr (When) when = g_new0 (When, 1);
  g_auto (GStrv) words = g_strsplit (text, " ", 3);

  when->text = g_strdup (text);
  if (words[0] == NULL || words[1] == NULL)
    {
      refuse (error, "When= is ARGUMENT[,ARGUMENT] OPERATOR and what the operator takes");
      return NULL;
    }
  if (!parse_arguments (when, words[0], error) || !parse_operand (when, words[1], words[2], error))
    return NULL;
  return g_steal_pointer (&when);
}

/* --- checking --- */

/* The value after the operator must be one that the argument could have. */
static gboolean
check_value (const When *when, const PolicyArgument *argument, GError **error)
{
  g_autoptr (GError) fault = NULL;
  g_autoptr (JsonTree) value = type_from_text (argument->type, argument->name, when->value, &fault);

  if (value == NULL)
    return refuse (error, "When=: %s", error_text (fault));
  if (type_is_empty (argument->type, value) && type_wire (argument->type) != TYPE_WIRE_BOOLEAN)
    return refuse (error, "When=: use empty to ask for no value");
  if (argument->choices != NULL &&
      !g_strv_contains ((const char *const *) argument->choices, when->value))
    return refuse (error, "When=: %s has no such choice", argument->name);
  return TRUE;
}

static gboolean
check_argument (const When *when, const PolicyArgument *argument, GError **error)
{
  const Type *type = argument->type;
  gboolean boolean = type_wire (type) == TYPE_WIRE_BOOLEAN;
  gboolean fits = FALSE;

  switch (when->test)
    {
    case WHEN_ANY:
    case WHEN_ALL:
    case WHEN_NONE:
    case WHEN_ANY_NOT:
      fits = !boolean && !type_is_ordered (type);
      break;
    case WHEN_EMPTY:
    case WHEN_NOT_EMPTY:
      fits = !boolean && type_wire (type) != TYPE_WIRE_FILE;
      break;
    case WHEN_IS:
      fits = !type_is_list (type) && !type_is_file (type);
      break;
    case WHEN_AT_MOST:
    case WHEN_AT_LEAST:
      fits = type_is_ordered (type);
      break;
    case WHEN_PAST:
      fits = strcmp (type_name (type), "timestamp") == 0;
      break;
    default:
      break;
    }
  if (!fits)
    return refuse (error, "When=: this cannot be asked of %s, which is of type %s", argument->name,
                   type_name (type));
  return when->value == NULL || check_value (when, argument, error);
}

gboolean
when_check (const When *when, const PolicyAction *action, Decision decision, GError **error)
{
  gboolean several = when->arguments[1] != NULL;

  for (guint i = 0; when->arguments[i] != NULL; i++)
    {
      const PolicyArgument *argument = action_argument (action, when->arguments[i]);

      if (argument == NULL)
        return refuse (error, "When=: action %s has no argument %s", action->id,
                       when->arguments[i]);
      if (!check_argument (when, argument, error))
        return FALSE;
      several = several || type_is_list (argument->type);
    }
  if (decision == DECISION_ALLOW && several &&
      (when->test == WHEN_ANY || when->test == WHEN_ANY_NOT))
    return refuse (error, "When=: in an allow rule one value that fits would let all others "
                          "through: use all or none");
  return TRUE;
}
