/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Takes an agent's output apart, byte by byte, and puts what passes together again: no part of a
 * sequence is shown before its end is there, and no ESC but that of one that was judged, which
 * sequence.c does.  Called by console.c.
 */
#include "module/card/tty/screen.h"

#include "module/card/tty/sequence.h"

#include <string.h>

#define ESC 0x1b
#define BEL 0x07
#define SO 0x0e
#define SI 0x0f
#define CAN 0x18
#define SUB 0x1a
#define DEL 0x7f

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

static void
control_end (Screen *screen, guint8 last, Out *out)
{
  static const guint8 begin[] = { ESC, '[' };

  if (sequence_control_passes (screen, last))
    {
      screen->has_drawn = TRUE;
      put (out, begin, sizeof begin);
      put (out, screen->held, screen->held_len);
      put (out, &last, 1);
    }
  enter (screen, SCREEN_GROUND);
}

/* The title that there was is kept by the terminal until the end. */
static void
command_end (Screen *screen, const char *end, Out *out)
{
  static const guint8 begin[] = { ESC, ']' };
  const gboolean had_title = screen->has_title;

  if (sequence_command_passes (screen))
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

static void
escape_end (Screen *screen, guint8 last, Out *out)
{
  static const guint8 begin[] = { ESC };

  if (sequence_escape_passes (screen, last))
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
  else if (byte >= 0x07 && byte <= SI)
    {
      screen->has_drawn |= byte >= SO;
      screen->is_shifted = byte == SO || (screen->is_shifted && byte != SI);
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

/* C1 controls are in no form shown: raw, or as U+0080 to U+009F, or where Linux's console finds
 * them after SO, within a character. */
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
  if (!screen->is_shifted &&
      g_utf8_validate ((const char *) screen->character, (gssize) screen->character_len, NULL) &&
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

GString *
screen_undo (const Screen *screen, gboolean is_whole)
{
  GString *text = g_string_new (NULL);

  if (!screen->has_drawn)
    return text;
  if (!is_whole)
    g_string_append_c (text, CAN);
  if (screen->has_link)
    g_string_append (text, "\033]8;;\033\\");
  undo_keys (screen, text);
  sequence_undo_modes (is_whole ? screen->modes : screen->touched, text);
  undo_keys (screen, text);
  if (screen->has_region)
    g_string_append (text, "\0337\033[r\0338");
  if (screen->has_shape)
    g_string_append (text, "\033[0 q");
  if (screen->has_console_cursor)
    g_string_append (text, "\033[?0c");
  if (screen->has_colours)
    g_string_append (text, "\033]104\033\\\033]110\033\\\033]111\033\\\033]112\033\\");
  /* What was kept may be somebody else's, where it was lost that ours was. */
  if (screen->has_title)
    g_string_append (text, is_whole ? "\033[23;0t" : "\033]0;\033\\");
  /* Characters of ASCII, keys of numbers, no attribute and the usual font. */
  g_string_append (text, "\017\033(B\033)B\033>\033[0;10m");
  return text;
}
