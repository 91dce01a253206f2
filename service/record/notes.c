/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The warnings beside a value, in words: what the eye would take for something else.  The rows
 * alone collect them.  A note never replaces the value and never says that something is safe.
 */
#include "service/record/escape-private.h"
#include "service/record/unicode.h"

#include <string.h>

#define MAX_MARKS 4       /* on one base, without a note */
#define MAX_RUN 30        /* of marks, for which the normal form is still asked */
#define PIECE 256         /* bytes that are normalised at once, about */
#define JAMO_FIRST 0x1160 /* Hangul vowels and finals, which combine though they are letters */
#define JAMO_LAST 0x11ff
#define MAX_SCRIPTS 4 /* that a note names */
#define MAX_ALIKE 4   /* that a note names */

/* Scripts seen, in the order in which they came. */
typedef struct
{
  guint8 script[MAX_SCRIPTS];
  guint n; /* over MAX_SCRIPTS: there are more than are named */
} Scripts;

struct Notes
{
  gboolean bidi, rtl, variant, digits, decomposed, bare_mark, hidden_dot, covered;
  gunichar alike[MAX_ALIKE]; /* each once, in the order in which they came */
  guint n_alike;             /* over MAX_ALIKE: there are more than are named */
  guint marks;   /* the most on one base */
  Scripts other; /* not Latin */
  Scripts mixed; /* of the first word that mixes */
};

/* Writing systems that use several scripts in one word, with Latin among them. */
static const char *const together[][4] = {
  { "Latin", "Han", "Hiragana", "Katakana" },
  { "Latin", "Han", "Bopomofo", NULL },
  { "Latin", "Han", "Hangul", NULL },
};

Notes *
notes_new (void)
{
  return g_new0 (Notes, 1);
}

void
notes_free (Notes *notes)
{
  g_free (notes);
}

static void
scripts_add (Scripts *scripts, guint8 script)
{
  for (guint i = 0; i < MIN (scripts->n, MAX_SCRIPTS); i++)
    if (scripts->script[i] == script)
      return;
  if (scripts->n < MAX_SCRIPTS)
    scripts->script[scripts->n] = script;
  scripts->n = MIN (scripts->n + 1, MAX_SCRIPTS + 1);
}

static gboolean
scripts_belong (const Scripts *scripts)
{
  if (scripts->n <= 1)
    return TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS (together) && scripts->n <= MAX_SCRIPTS; i++)
    {
      guint found = 0;

      for (guint j = 0; j < scripts->n; j++)
        for (gsize k = 0; k < G_N_ELEMENTS (together[i]) && together[i][k] != NULL; k++)
          found += script_find (together[i][k]) == scripts->script[j];
      if (found == scripts->n)
        return TRUE;
    }
  return FALSE;
}

static char *
scripts_name (const Scripts *scripts)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < MIN (scripts->n, MAX_SCRIPTS); i++)
    g_string_append_printf (out, "%s%s", i > 0 ? ", " : "", script_name (scripts->script[i]));
  if (scripts->n > MAX_SCRIPTS)
    g_string_append (out, " and more");
  return g_string_free (out, FALSE);
}

/* The scripts of letters, by word: a word is a run of letters, marks and digits. */
static void
read_scripts (Notes *notes, const char *text)
{
  const guint8 latin = script_find ("Latin");
  Scripts word = { 0 };

  for (const char *c = text;; c = g_utf8_next_char (c))
    {
      guint8 script;
      guint flags = char_flags (g_utf8_get_char (c), &script);

      if (*c == '\0' || !(flags & (CHAR_LETTER | CHAR_MARK | CHAR_DIGIT)))
        {
          if (notes->mixed.n == 0 && !scripts_belong (&word))
            notes->mixed = word;
          word.n = 0;
        }
      if (*c == '\0')
        return;
      if (script == 0)
        continue;
      scripts_add (&word, script);
      if (script != latin)
        scripts_add (&notes->other, script);
    }
}

/* Where marks stand: without a base, too many on one, or where their letter hides them. */
static void
read_marks (Notes *notes, const char *text)
{
  gboolean has_base = FALSE;
  gunichar base = 0;
  guint marks = 0;

  for (const char *c = text; *c != '\0'; c = g_utf8_next_char (c))
    {
      gunichar u = g_utf8_get_char (c);
      guint flags = char_flags (u, NULL);

      if (flags & CHAR_MARK)
        {
          if (!has_base)
            notes->bare_mark = TRUE;
          if (u == 0x307 && marks == 0 &&
              (base == 'i' || base == 'j' || base == 0x131 || base == 0x237))
            notes->hidden_dot = TRUE;
          marks++;
          notes->marks = MAX (notes->marks, marks);
          continue;
        }
      has_base = (flags & CHAR_SHOWN) != 0 && u != ' ';
      base = u;
      marks = 0;
    }
}

static void
alike_add (Notes *notes, gunichar c)
{
  for (guint i = 0; i < MIN (notes->n_alike, MAX_ALIKE); i++)
    if (notes->alike[i] == c)
      return;
  if (notes->n_alike < MAX_ALIKE)
    notes->alike[notes->n_alike] = c;
  notes->n_alike = MIN (notes->n_alike + 1, MAX_ALIKE + 1);
}

static char *
alike_name (const Notes *notes)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < MIN (notes->n_alike, MAX_ALIKE); i++)
    g_string_append_printf (out, "%sU+%04X like %c", i > 0 ? ", " : "", notes->alike[i],
                            char_looks_like (notes->alike[i]));
  if (notes->n_alike > MAX_ALIKE)
    g_string_append (out, " and more");
  return g_string_free (out, FALSE);
}

static void
read_characters (Notes *notes, const char *text)
{
  for (const char *c = text; *c != '\0'; c = g_utf8_next_char (c))
    {
      gunichar u = g_utf8_get_char (c);
      guint flags = char_flags (u, NULL);

      if (flags & CHAR_BIDI)
        notes->bidi = TRUE;
      if (flags & CHAR_RTL)
        notes->rtl = TRUE;
      if (flags & CHAR_VARIANT)
        notes->variant = TRUE;
      if ((flags & CHAR_DIGIT) && u >= 0x80)
        notes->digits = TRUE;
      if (char_looks_like (u) != '\0')
        alike_add (notes, u);
      if (char_covers (u))
        notes->covered = TRUE;
    }
}

/* Whether no character before @u can ever combine with it. */
static gboolean
starts_anew (gunichar u)
{
  return (char_flags (u, NULL) & CHAR_SHOWN) != 0 && !(u >= JAMO_FIRST && u <= JAMO_LAST);
}

static gboolean
is_composed (const char *text, gsize len)
{
  g_autofree char *composed = g_utf8_normalize (text, (gssize) len, G_NORMALIZE_NFC);

  return composed != NULL && strlen (composed) == len && memcmp (composed, text, len) == 0;
}

/*
 * GLib takes quadratic time to normalise, so this goes piece by piece, each of which starts anew.
 * A longer run of marks than any script has is left alone: it has a note of its own.
 */
static void
read_form (Notes *notes, const char *text)
{
  const char *piece = text;
  guint run = 0;

  for (const char *c = text; *c != '\0'; c = g_utf8_next_char (c))
    {
      gunichar u = g_utf8_get_char (c);

      run = char_flags (u, NULL) & CHAR_SHOWN ? 0 : run + 1;
      if (run > MAX_RUN)
        return;
      if (c - piece >= PIECE && starts_anew (u))
        {
          if (!is_composed (piece, (gsize) (c - piece)))
            notes->decomposed = TRUE;
          piece = c;
        }
    }
  if (!is_composed (piece, strlen (piece)))
    notes->decomposed = TRUE;
}

void
notes_read (Notes *notes, const char *text)
{
  if (g_str_is_ascii (text)) /* nothing in ASCII deserves a note of these */
    return;
  read_characters (notes, text);
  read_scripts (notes, text);
  read_marks (notes, text);
  read_form (notes, text);
}

static void
add_note (GPtrArray *out, gboolean holds, const char *text)
{
  if (holds)
    g_ptr_array_add (out, g_strdup (text));
}

void
notes_write (const Notes *notes, const EscapeCount *count, GPtrArray *out)
{
  g_autofree char *mixed = scripts_name (&notes->mixed);
  g_autofree char *other = scripts_name (&notes->other);
  g_autofree char *mixed_note = g_strdup_printf ("one word mixes letters of %s", mixed);
  g_autofree char *other_note = g_strdup_printf ("letters that are not Latin: %s", other);
  g_autofree char *alike = alike_name (notes);
  g_autofree char *alike_note = g_strdup_printf ("characters that pass for others: %s", alike);
  g_autofree char *marks_note = g_strdup_printf ("%u combining marks on one letter", notes->marks);

  add_note (out, count->hidden > 0,
            "characters that have no picture or would mislead, written as \\u{…}");
  add_note (out, notes->bidi, "direction controls, which would reorder what is read");
  add_note (out, count->spaces > 0, "spaces at an end or in a row, written as \\u{0020}");
  add_note (out, notes->rtl, "right-to-left text");
  add_note (out, notes->mixed.n > 0, mixed_note);
  add_note (out, notes->other.n > 0, other_note);
  add_note (out, notes->variant, "letters in a mathematical, full-width or half-width form");
  add_note (out, notes->digits, "digits other than 0 to 9");
  add_note (out, notes->decomposed,
            "not in Unicode normal form C: another spelling looks the same");
  add_note (out, notes->bare_mark, "a combining mark without a letter of its own");
  add_note (out, notes->marks > MAX_MARKS, marks_note);
  add_note (out, notes->hidden_dot, "a dot that its letter hides");
  add_note (out, notes->covered, "a mark over or around its letter");
  add_note (out, notes->n_alike > 0, alike_note);
}
