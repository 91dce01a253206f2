/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Judges each sequence of ECMA-48 as a whole, when its end is there: no part of one is shown, and
 * no ESC but that of one that was judged.  Called by relay.c.  Left out are strings that write the
 * clipboard, files or keys (OSC but for a few, DCS, APC, PM, SOS), what prints, what reads the
 * screen or the window's title back, and what changes how bytes are read.  Modes that are set are
 * noted, so that the end can undo them.
 */
#include "module/card/tty/screen.h"

#include <string.h>

#define ESC 0x1b
#define BEL 0x07
#define CAN 0x18
#define SUB 0x1a
#define DEL 0x7f
#define MODE_MAX 9999
/* Private modes that a shell has on. */
static const guint16 usual[] = { 7, 8, 25 };
/* OSC: titles, colours, links; and back. */
static const guint16 commands[] = { 0, 1, 2, 4, 8, 10, 11, 12, 104, 110, 111, 112 };
/* What is asked by none of them, without a prefix. */
#define SILENT "ABCDEFGHIJKLMPSTX@Zabdefghlmrsu`"

typedef struct
{
  guint8 *data;
  gsize len;
} Out;

static void
put (Out *out, const void *data, gsize len)
{
  memcpy (out->data + out->len, data, len);
  out->len += len;
}

static void
hold (Screen *screen, const void *data, gsize len)
{
  if (len > sizeof screen->held - screen->held_len)
    {
      screen->is_too_long = TRUE;
      return;
    }
  memcpy (screen->held + screen->held_len, data, len);
  screen->held_len += len;
}

static void
enter (Screen *screen, ScreenState state)
{
  screen->state = state;
  screen->held_len = 0;
  screen->is_too_long = screen->may_end = FALSE;
}

/* --- numbers --- */

/* The number at @text, at most MODE_MAX + 1; @end: behind it. */
static guint
read_number (const guint8 *text, gsize len, gsize *end)
{
  guint number = 0;
  gsize i = 0;

  for (; i < len && g_ascii_isdigit (text[i]); i++)
    number = MIN (number * 10 + (guint) (text[i] - '0'), MODE_MAX + 1);
  *end = i;
  return number;
}

static gboolean
is_zeros (const guint8 *text, gsize len)
{
  gsize i = 0;

  while (i < len && text[i] == '0')
    i++;
  return i == len;
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

/* Whether a shell has it on: of those that are not private, that what is typed is not shown. */
static gboolean
is_usual (guint number, gboolean is_private)
{
  return is_private ? is_one_of (usual, G_N_ELEMENTS (usual), number) : number == 12;
}

/* FALSE where it cannot be noted. */
static gboolean
note_mode (Screen *screen, guint number, gboolean is_private, gboolean on)
{
  gsize i = 0;

  while (i < screen->n_modes &&
         (screen->modes[i].number != number || screen->modes[i].is_private != is_private))
    i++;
  if (on != is_usual (number, is_private) && i == screen->n_modes)
    {
      if (i == SCREEN_MODES_MAX)
        return FALSE;
      screen->modes[screen->n_modes++] = (ScreenMode){ (guint16) number, is_private };
    }
  else if (on == is_usual (number, is_private) && i < screen->n_modes)
    screen->modes[i] = screen->modes[--screen->n_modes];
  screen->has_asked |= is_private && number >= 1000;
  return TRUE;
}

/* h and l: all of its modes, or it does not pass. */
static gboolean
modes_pass (Screen *screen, const guint8 *text, gsize len, gboolean on)
{
  const gboolean is_private = len > 0 && text[0] == '?';
  gsize i = is_private ? 1 : 0;

  if (!is_private && len > 0 && !g_ascii_isdigit (text[0]))
    return FALSE;
  do
    {
      gsize digits = 0;
      const guint number = read_number (text + i, len - i, &digits);

      i += digits;
      if (digits == 0 || number > MODE_MAX || (i < len && text[i] != ';'))
        return FALSE;
      i++;
      /* VT52 reads the bytes in another way; 1048 keeps the cursor, and is no state. */
      if ((is_private && number == 2) ||
          (number != 1048 && !note_mode (screen, number, is_private, on)))
        return FALSE;
    }
  while (i < len);
  return TRUE;
}

/* --- what may pass --- */

/* Sizes, of the window's text and of its cells; what moves it or reads its title does not pass. */
static gboolean
window_passes (const guint8 *text, gsize len)
{
  static const guint16 sizes[] = { 14, 16, 18 };
  gsize digits = 0;
  const guint number = read_number (text, len, &digits);

  return digits > 0 && is_one_of (sizes, G_N_ELEMENTS (sizes), number);
}

/* Parameters, at most one byte between them and the end, and a prefix at the beginning alone. */
static gboolean
control_is_formed (const guint8 *text, gsize len)
{
  gsize i = len > 0 && strchr ("<=>?", text[0]) != NULL ? 1 : 0;

  while (i < len && text[i] >= '0' && text[i] <= ';')
    i++;
  /* Not what levels of VTs, locators, printers, macros and rectangles that are read back have. */
  if (i < len && text[i] < '0' && strchr (" !#$", text[i]) != NULL)
    i++;
  return i == len;
}

/* @text: between CSI and its last byte */
static gboolean
control_passes (Screen *screen, const guint8 *text, gsize len, guint8 last)
{
  const guint8 prefix = len > 0 && strchr ("<=>?", text[0]) != NULL ? text[0] : 0;
  const guint8 between = len > 0 && text[len - 1] < '0' ? text[len - 1] : 0;

  /* i prints, y tests; modes that are kept and brought back are ones that nobody knows. */
  if (!control_is_formed (text, len) || last == 'i' || last == 'y' ||
      (prefix == '?' && between == 0 && (last == 'r' || last == 's')))
    return FALSE;
  if (last == 't')
    return between == 0 && window_passes (text, len);
  if (between == 0 && (last == 'h' || last == 'l'))
    return modes_pass (screen, text, len, last == 'h');
  screen->asked += last == 'c' && is_zeros (text, len) ? 1 : 0;
  screen->has_region |= last == 'r' && between == 0;
  screen->has_shape |= last == 'q' && between == ' ';
  screen->has_keys |= prefix != 0 && (last == 'm' || last == 'u');
  screen->has_asked |= prefix != 0 || between != 0 || strchr (SILENT, last) == NULL;
  return TRUE;
}

static void
control_end (Screen *screen, guint8 last, Out *out)
{
  static const guint8 begin[] = { ESC, '[' };

  if (!screen->is_too_long && control_passes (screen, screen->held, screen->held_len, last))
    {
      screen->has_drawn = TRUE;
      put (out, begin, sizeof begin);
      put (out, screen->held, screen->held_len);
      put (out, &last, 1);
    }
  enter (screen, SCREEN_GROUND);
}

static gboolean
command_passes (Screen *screen)
{
  gsize digits = 0;
  const guint number = read_number (screen->held, screen->held_len, &digits);

  if (screen->is_too_long || digits == 0 || digits > 3 || (digits > 1 && screen->held[0] == '0') ||
      (digits < screen->held_len && screen->held[digits] != ';') ||
      !is_one_of (commands, G_N_ELEMENTS (commands), number))
    return FALSE;
  screen->has_title |= number <= 2;
  screen->has_link |= number == 8;
  screen->has_colours |= number == 4 || (number >= 10 && number <= 12);
  screen->has_asked |= memchr (screen->held, '?', screen->held_len) != NULL;
  return TRUE;
}

/* The title that there was is kept by the terminal until the end. */
static void
command_end (Screen *screen, const char *end, Out *out)
{
  static const guint8 begin[] = { ESC, ']' };
  const gboolean had_title = screen->has_title;

  if (command_passes (screen))
    {
      if (screen->has_title && !had_title)
        put (out, "\033[22;0t", 7);
      screen->has_drawn = TRUE;
      put (out, begin, sizeof begin);
      put (out, screen->held, screen->held_len);
      put (out, end, strlen (end));
    }
  enter (screen, SCREEN_GROUND);
}

/* --- bytes --- */

/* Cursor, tab stops, keypad, single shifts, and a set of characters; no other coding of them. */
static gboolean
escape_passes (const Screen *screen, guint8 last)
{
  if (screen->is_too_long || screen->held_len > 1)
    return FALSE;
  return screen->held_len == 0 ? strchr ("6789=>DEHMNOc\\", last) != NULL
                               : strchr ("()*+#", screen->held[0]) != NULL;
}

static void
escape_end (Screen *screen, guint8 last, Out *out)
{
  static const guint8 begin[] = { ESC };

  if (escape_passes (screen, last))
    {
      screen->has_drawn = TRUE;
      put (out, begin, sizeof begin);
      put (out, screen->held, screen->held_len);
      put (out, &last, 1);
    }
  enter (screen, SCREEN_GROUND);
}

static void
take_escape (Screen *screen, guint8 byte, Out *out)
{
  const guint8 kind = screen->held_len == 0 ? byte : 0;

  if (byte < 0x30)
    hold (screen, &byte, 1);
  else if (kind == '[')
    enter (screen, SCREEN_CONTROL);
  else if (kind == ']')
    enter (screen, SCREEN_COMMAND);
  else if (kind != 0 && strchr ("PX^_k", kind) != NULL)
    enter (screen, SCREEN_STRING);
  else
    escape_end (screen, byte, out);
}

static void
take_in_string (Screen *screen, guint8 byte, Out *out)
{
  const gboolean is_command = screen->state == SCREEN_COMMAND;

  if (screen->may_end && byte == '\\')
    {
      if (is_command)
        command_end (screen, "\033\\", out);
      enter (screen, SCREEN_GROUND);
    }
  else if (screen->may_end)
    {
      enter (screen, SCREEN_ESCAPE);
      if (byte >= 0x20)
        take_escape (screen, byte, out);
    }
  else if (byte == ESC)
    screen->may_end = TRUE;
  else if (byte == BEL && is_command)
    command_end (screen, "\a", out);
  else if (byte == CAN || byte == SUB)
    enter (screen, SCREEN_GROUND);
  else if (byte >= 0x20 && byte != DEL && is_command)
    hold (screen, &byte, 1);
}

/* Bell to carriage return, and the two that choose a set of characters. */
static void
take_control (Screen *screen, guint8 byte, Out *out)
{
  if (byte == ESC)
    enter (screen, SCREEN_ESCAPE);
  else if (byte == CAN || byte == SUB)
    enter (screen, SCREEN_GROUND);
  else if (byte >= 0x07 && byte <= 0x0f)
    {
      screen->has_drawn |= byte >= 0x0e;
      put (out, &byte, 1);
    }
}

static void
take_ascii (Screen *screen, guint8 byte, Out *out)
{
  if (screen->state == SCREEN_COMMAND || screen->state == SCREEN_STRING)
    take_in_string (screen, byte, out);
  else if (byte < 0x20)
    take_control (screen, byte, out);
  else if (byte == DEL)
    return;
  else if (screen->state == SCREEN_ESCAPE)
    take_escape (screen, byte, out);
  else if (screen->state == SCREEN_CONTROL && byte < 0x40)
    hold (screen, &byte, 1);
  else if (screen->state == SCREEN_CONTROL)
    control_end (screen, byte, out);
  else
    put (out, &byte, 1);
}

/* A character that is not of ASCII, and no control. */
static void
take_character (Screen *screen, const guint8 *bytes, gsize len, Out *out)
{
  if (screen->state == SCREEN_STRING)
    return;
  if (screen->state == SCREEN_COMMAND && !screen->may_end)
    {
      hold (screen, bytes, len);
      return;
    }
  if (screen->state != SCREEN_GROUND)
    enter (screen, SCREEN_GROUND);
  put (out, bytes, len);
}

static gsize
length_of (guint8 first)
{
  if (first >= 0xc2 && first <= 0xdf)
    return 2;
  if (first >= 0xe0 && first <= 0xef)
    return 3;
  return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* C1 controls are in no form shown: raw, or as U+0080 to U+009F. */
static void
take_high (Screen *screen, guint8 byte, Out *out)
{
  if (!screen->is_utf8)
    {
      if (byte >= 0xa0)
        take_character (screen, &byte, 1, out);
      return;
    }
  if (screen->character_len == 0)
    screen->character_want = length_of (byte);
  if (screen->character_want == 0)
    return;
  screen->character[screen->character_len++] = byte;
  if (screen->character_len < screen->character_want)
    return;
  if (g_utf8_validate ((const char *) screen->character, (gssize) screen->character_len, NULL) &&
      g_utf8_get_char ((const char *) screen->character) >= 0xa0)
    take_character (screen, screen->character, screen->character_len, out);
  screen->character_len = 0;
}

gsize
screen_pass (Screen *screen, const guint8 *in, gsize len, guint8 *to)
{
  Out out = { to, 0 };

  for (gsize i = 0; i < len; i++)
    {
      const gboolean goes_on = in[i] >= 0x80 && in[i] <= 0xbf;

      /* One that was cut off is left out. */
      if (screen->character_len > 0 && !goes_on)
        screen->character_len = 0;
      if (in[i] >= 0x80)
        take_high (screen, in[i], &out);
      else
        take_ascii (screen, in[i], &out);
    }
  return out.len;
}

/* --- the end --- */

static void
undo_keys (const Screen *screen, GString *text)
{
  /* xterm's, and kitty's, of which each screen has a stack of its own. */
  if (screen->has_keys)
    g_string_append (text, "\033[>4m\033[<99u\033[=0;1u");
}

static void
undo_modes (const Screen *screen, GString *text)
{
  for (gsize i = 0; i < screen->n_modes; i++)
    {
      const ScreenMode *mode = &screen->modes[i];

      g_string_append_printf (text, "\033[%s%u%c", mode->is_private ? "?" : "", mode->number,
                              is_usual (mode->number, mode->is_private) ? 'h' : 'l');
    }
}

GString *
screen_undo (const Screen *screen)
{
  GString *text = g_string_new (NULL);

  if (!screen->has_drawn)
    return text;
  if (screen->has_link)
    g_string_append (text, "\033]8;;\033\\");
  undo_keys (screen, text);
  undo_modes (screen, text);
  undo_keys (screen, text);
  if (screen->has_region)
    g_string_append (text, "\0337\033[r\0338");
  if (screen->has_shape)
    g_string_append (text, "\033[0 q");
  if (screen->has_colours)
    g_string_append (text, "\033]104\033\\\033]110\033\\\033]111\033\\\033]112\033\\");
  if (screen->has_title)
    g_string_append (text, "\033[23;0t");
  /* Characters of ASCII, keys of numbers, no attribute. */
  g_string_append (text, "\017\033(B\033)B\033>\033[0m");
  return text;
}
