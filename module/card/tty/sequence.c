/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Judges one sequence of ECMA-48 as a whole, when its end is there.  Called by screen.c.  What passes
 * is listed here: what programs of curses and their like draw and ask with, on xterm, on Linux's
 * console and in tmux.  Anything else is left out, known or not: keys that lock, consoles that switch,
 * what prints, what reads the screen back, strings that write the clipboard or files.  Modes that are
 * set are noted, so that the end can undo them.
 */
#include "module/card/tty/sequence.h"

#include <string.h>

#define NUMBER_MAX 9999
#define COLOURS 256
#define MANY SCREEN_HELD_MAX
/* OSC: titles, colours, links; and back. */
static const guint16 commands[] = { 0, 1, 2, 4, 8, 10, 11, 12, 104, 110, 111, 112 };

/* Of those that pass, and whether a shell has it on; one that keeps the cursor is no state. */
static const struct
{
  guint16 number;
  gboolean is_private, is_usual;
} modes[] = {
  { 4, FALSE, FALSE },   /* inserts */
  { 34, FALSE, TRUE },   /* the cursor, of screen and tmux */
  { 1, TRUE, FALSE },    /* keys of the cursor */
  { 5, TRUE, FALSE },    /* inverse, to flash */
  { 7, TRUE, TRUE },     /* wraps */
  { 9, TRUE, FALSE },    /* the mouse, as X10 did */
  { 12, TRUE, FALSE },   /* the cursor blinks */
  { 25, TRUE, TRUE },    /* and is shown */
  { 47, TRUE, FALSE },   /* the other screen */
  { 69, TRUE, FALSE },   /* margins */
  { 1000, TRUE, FALSE }, /* the mouse; not 1001, which waits for an answer */
  { 1002, TRUE, FALSE },
  { 1003, TRUE, FALSE },
  { 1004, TRUE, FALSE }, /* focus */
  /* How the mouse is told of; not 1005, by characters of any length. */
  { 1006, TRUE, FALSE },
  { 1007, TRUE, FALSE }, /* the wheel */
  { 1015, TRUE, FALSE },
  { 1016, TRUE, FALSE },
  { 1047, TRUE, FALSE }, /* the other screen */
  { 1049, TRUE, FALSE },
  { 2004, TRUE, FALSE }, /* pastes */
  { 2026, TRUE, FALSE }, /* draws at once */
  { 2031, TRUE, FALSE }, /* tells of colours */
  { 2048, TRUE, FALSE }, /* tells of the size */
};
G_STATIC_ASSERT (G_N_ELEMENTS (modes) <= 64);
#define KEEPS_CURSOR 1048

typedef enum
{
  ASKS = 1 << 0, /* the terminal has something to say */
  ASKS_WHAT = 1 << 1,
  MODES = 1 << 2,
  REGION = 1 << 3,
  SHAPE = 1 << 4,
  CONSOLE_CURSOR = 1 << 5,
  KEYS = 1 << 6,
  ATTRIBUTES = 1 << 7,
} Effect;

/* Sequences of CSI: how many numbers there are at most, and what the first one may be. */
typedef struct
{
  guint8 prefix, between;
  const char *last; /* any of these */
  guint most;
  guint8 effect;
  guint16 first[3];
  gsize n_first; /* 0: any */
} Control;

static const Control controls[] = {
  { 0, 0, "@ABCDEFGIJKLMPSTXZ`abde", 1, 0, { 0 }, 0 },
  { 0, 0, "Hfs", 2, 0, { 0 }, 0 },
  { 0, 0, "u", 0, 0, { 0 }, 0 },
  { 0, 0, "m", MANY, ATTRIBUTES, { 0 }, 0 },
  { 0, 0, "hl", MANY, MODES, { 0 }, 0 },
  { '?', 0, "hl", MANY, MODES, { 0 }, 0 },
  { 0, 0, "r", 2, REGION, { 0 }, 0 },
  { 0, ' ', "q", 1, SHAPE, { 0 }, 0 },
  { '?', 0, "c", 1, CONSOLE_CURSOR, { 0, 1, 8 }, 3 },
  { 0, '!', "p", 0, 0, { 0 }, 0 },
  { 0, '$', "x", 5, 0, { 0 }, 0 }, /* fills; tmux does */
  /* Keys, by kitty's protocol and by the one of xterm's options that is undone. */
  { '>', 0, "u", 1, KEYS | ASKS, { 0 }, 0 },
  { '<', 0, "u", 1, KEYS | ASKS, { 0 }, 0 },
  { '=', 0, "u", 2, KEYS | ASKS, { 0 }, 0 },
  { '>', 0, "m", 2, KEYS | ASKS, { 4 }, 1 },
  { '?', 0, "u", 0, ASKS, { 0 }, 0 },
  /* What it is, its state, the cursor's place, colours, sizes, modes. */
  { 0, 0, "c", 1, ASKS | ASKS_WHAT, { 0 }, 1 },
  { '>', 0, "cq", 1, ASKS, { 0 }, 1 },
  { '=', 0, "c", 1, ASKS, { 0 }, 1 },
  { 0, 0, "n", 1, ASKS, { 5, 6 }, 2 },
  { '?', 0, "n", 1, ASKS, { 6, 996 }, 2 },
  { 0, 0, "t", 2, ASKS, { 14, 16, 18 }, 3 },
  { 0, '$', "p", 1, ASKS, { 0 }, 0 },
  { '?', '$', "p", 1, ASKS, { 0 }, 0 },
};

/* --- numbers --- */

/* The number at @text, at most NUMBER_MAX + 1; @end: behind it. */
static guint
read_number (const guint8 *text, gsize len, gsize *end)
{
  guint number = 0;
  gsize i = 0;

  for (; i < len && g_ascii_isdigit (text[i]); i++)
    number = MIN (number * 10 + (guint) (text[i] - '0'), NUMBER_MAX + 1);
  *end = i;
  return number;
}

static gboolean
is_one_of (const guint16 *numbers, gsize n, guint number)
{
  for (gsize i = 0; i < n; i++)
    if (numbers[i] == number)
      return TRUE;
  return FALSE;
}

/* --- modes --- */

/* The terminal says something of its own accord where it is set: none of the screens, nor of
 * drawing. */
static gboolean
mode_tells (guint number, gboolean is_private)
{
  return is_private && (number == 9 || number >= 1000) && (number < 1047 || number > 1049) &&
         number != 2026;
}

/* Notes in @changed what is not as a shell has it, in @touched what was not; FALSE: the mode does
 * not pass. */
static gboolean
note_mode (guint number, gboolean is_private, gboolean on, guint64 *changed, guint64 *touched)
{
  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    if (modes[i].number == number && modes[i].is_private == is_private)
      {
        const guint64 bit = G_GUINT64_CONSTANT (1) << i;

        *changed = on != modes[i].is_usual ? *changed | bit : *changed & ~bit;
        *touched |= *changed;
        return TRUE;
      }
  return is_private && number == KEEPS_CURSOR;
}

/* h and l: all of its modes, or it does not pass. */
static gboolean
modes_pass (Screen *screen, gboolean is_private, const guint8 *text, gsize len, gboolean on)
{
  guint64 changed = screen->modes, touched = screen->touched;
  gboolean has_asked = FALSE;
  gsize i = 0;

  do
    {
      gsize digits = 0;
      const guint number = read_number (text + i, len - i, &digits);

      i += digits;
      if (digits == 0 || (i < len && text[i] != ';') ||
          (screen->is_deaf && mode_tells (number, is_private)) ||
          !note_mode (number, is_private, on, &changed, &touched))
        return FALSE;
      has_asked |= is_private && (number == 9 || number >= 1000);
      i++;
    }
  while (i <= len);
  screen->modes = changed;
  screen->touched = touched;
  screen->has_asked |= has_asked;
  return TRUE;
}

/* --- what may pass --- */

static const Control *
find_control (guint8 prefix, guint8 between, guint8 last)
{
  for (gsize i = 0; i < G_N_ELEMENTS (controls); i++)
    if (controls[i].prefix == prefix && controls[i].between == between &&
        strchr (controls[i].last, last) != NULL)
      return &controls[i];
  return NULL;
}

/* Parts of a number are the attributes' alone; 00 is not for each terminal what 0 is; and what one
 * makes of a number that is too large for it nobody knows. */
static gboolean
numbers_pass (const Control *control, const guint8 *text, gsize len)
{
  gsize digits = 0;
  const guint first = read_number (text, len, &digits);
  gsize n = len > 0 ? 1 : 0;

  for (gsize i = 0, width = 0; i < len; i += MAX (width, 1))
    {
      if (text[i] < '0' || text[i] > ';' || (text[i] == ':' && control->most != MANY) ||
          read_number (text + i, len - i, &width) > NUMBER_MAX)
        return FALSE;
      n += text[i] == ';' ? 1 : 0;
    }
  return n <= control->most &&
         (control->n_first == 0 ||
          ((digits < 2 || text[0] != '0') && is_one_of (control->first, control->n_first, first)));
}

/* The number before the next ; from @at on, which is moved behind it.  @out_parts: (optional):
 * whether it has parts */
static guint
next_number (const guint8 *text, gsize len, gsize *at, gboolean *out_parts)
{
  gsize digits = 0;
  const guint number = read_number (text + *at, len - *at, &digits);
  gboolean has_parts = FALSE;

  for (; *at < len && text[*at] != ';'; ++*at)
    has_parts = has_parts || text[*at] == ':';
  ++*at;
  if (out_parts != NULL)
    *out_parts = has_parts;
  return number;
}

/* How many numbers of a colour come behind 38 and 48; a colour of lines, 58, is not read by each
 * terminal as one. */
static guint
colour_len (guint attribute, const guint8 *text, gsize len, gsize at)
{
  guint left = at < len ? 1 : 0, kind = 0;
  gboolean has_parts = FALSE;

  for (gsize i = at; i < len; i++)
    left += text[i] == ';' ? 1 : 0;
  if ((attribute != 38 && attribute != 48) || left == 0)
    return 0;
  kind = next_number (text, len, &at, &has_parts);
  if (has_parts || (kind != 5 && kind != 2))
    return 1;
  if (kind == 5)
    return MIN (left, 2);
  return left >= 4 ? 4 : 1;
}

/* Other fonts: with them Linux's console takes each byte for itself, and finds controls within
 * characters. */
static gboolean
attributes_pass (const guint8 *text, gsize len)
{
  for (gsize at = 0; at < len;)
    {
      gboolean has_parts = FALSE;
      const guint attribute = next_number (text, len, &at, &has_parts);

      if (attribute >= 11 && attribute <= 19)
        return FALSE;
      for (guint n = has_parts ? 0 : colour_len (attribute, text, len, at); n > 0; n--)
        next_number (text, len, &at, NULL);
    }
  return TRUE;
}

gboolean
sequence_control_passes (Screen *screen, guint8 last)
{
  const guint8 *text = screen->held;
  const gsize len = screen->held_len;
  const guint8 prefix = len > 0 && strchr ("<=>?", text[0]) != NULL ? text[0] : 0;
  const guint8 between = len > 0 && text[len - 1] < '0' ? text[len - 1] : 0;
  const guint8 *numbers = text + (prefix != 0 ? 1 : 0);
  const gsize numbers_len = len - (prefix != 0 ? 1 : 0) - (between != 0 ? 1 : 0);
  const Control *control = find_control (prefix, between, last);

  if (screen->is_too_long || control == NULL || !numbers_pass (control, numbers, numbers_len) ||
      (screen->is_deaf && (control->effect & ASKS) != 0) ||
      ((control->effect & ATTRIBUTES) != 0 && !attributes_pass (numbers, numbers_len)))
    return FALSE;
  if ((control->effect & MODES) != 0)
    return modes_pass (screen, prefix != 0, numbers, numbers_len, last == 'h');
  screen->asked += (control->effect & ASKS_WHAT) != 0 ? 1 : 0;
  screen->has_asked |= (control->effect & ASKS) != 0;
  screen->has_region |= (control->effect & REGION) != 0;
  screen->has_shape |= (control->effect & SHAPE) != 0;
  screen->has_console_cursor |= (control->effect & CONSOLE_CURSOR) != 0;
  screen->has_keys |= (control->effect & KEYS) != 0;
  return TRUE;
}

/* 4, with pairs of a number and a colour: xterm takes those behind its 256 for special ones. */
static gboolean
palette_passes (const guint8 *text, gsize len)
{
  gsize i = 0;

  while (i < len)
    {
      gsize digits = 0;
      const guint number = read_number (text + i, len - i, &digits);

      i += digits;
      if (digits == 0 || number >= COLOURS || i == len || text[i] != ';')
        return FALSE;
      do
        i++;
      while (i < len && text[i] != ';');
      i++;
    }
  return TRUE;
}

/* One colour each: those of the pointer, of highlights and of Tektronix come behind another ;. */
static gboolean
colours_pass (guint number, const guint8 *text, gsize len)
{
  if (number == 4)
    return palette_passes (text, len);
  return number < 10 || number > 12 || memchr (text, ';', len) == NULL;
}

/* A link is named by something, maybe; it leads into the net, to no file and no other program. */
static gboolean
link_passes (const guint8 *text, gsize len)
{
  const guint8 *to = memchr (text, ';', len);
  g_autofree char *address = NULL;

  if (to == NULL)
    return FALSE;
  to++;
  address = g_strndup ((const char *) to, len - (gsize) (to - text));
  return address[0] == '\0' || g_ascii_strncasecmp (address, "https://", 8) == 0 ||
         g_ascii_strncasecmp (address, "http://", 7) == 0;
}

/* For a colour; in a title or a link it is text. */
static gboolean
command_asks (const Screen *screen, guint number)
{
  return number > 2 && number != 8 && memchr (screen->held, '?', screen->held_len) != NULL;
}

gboolean
sequence_command_passes (Screen *screen)
{
  gsize digits = 0;
  const guint number = read_number (screen->held, screen->held_len, &digits);
  const gsize behind = MIN (digits + 1, screen->held_len);

  if (screen->is_too_long || digits == 0 || digits > 3 || (digits > 1 && screen->held[0] == '0') ||
      (digits < screen->held_len && screen->held[digits] != ';') ||
      !is_one_of (commands, G_N_ELEMENTS (commands), number) ||
      !colours_pass (number, screen->held + behind, screen->held_len - behind) ||
      (number == 8 && !link_passes (screen->held + behind, screen->held_len - behind)) ||
      (screen->is_deaf && command_asks (screen, number)))
    return FALSE;
  screen->has_title |= number <= 2;
  screen->has_link |= number == 8;
  screen->has_colours |= number == 4 || (number >= 10 && number <= 12);
  screen->has_asked |= memchr (screen->held, '?', screen->held_len) != NULL;
  return TRUE;
}

/* Cursor, keypad, single shifts, and a set of characters; no other coding, no tab stop, since there
 * is no saying where they were, and no reset, which may choose a coding. */
gboolean
sequence_escape_passes (const Screen *screen, guint8 last)
{
  if (screen->is_too_long || screen->held_len > 1)
    return FALSE;
  return screen->held_len == 0 ? strchr ("6789=>DEMNO\\", last) != NULL
                               : strchr ("()*+#", screen->held[0]) != NULL;
}

void
sequence_undo_modes (guint64 changed, GString *text)
{
  for (gsize i = 0; i < G_N_ELEMENTS (modes); i++)
    if (((changed >> i) & 1) != 0)
      g_string_append_printf (text, "\033[%s%u%c", modes[i].is_private ? "?" : "", modes[i].number,
                              modes[i].is_usual ? 'h' : 'l');
}
