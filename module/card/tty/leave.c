/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Called by relay.c.  Ctrl-] is a byte; after CSI > 1 u, kitty's keys, it is CSI 93;5u, and after
 * CSI > 4;2m, xterm's, CSI 27;5;93~.  Ctrl-5 is the same byte, and so the same here.  What a person
 * might type that begins as an answer does, such as Alt-P, is taken for one to the next control.
 */
#include "module/card/tty/leave.h"

#include <string.h>

#define ESC 0x1b
#define LEAVE_BYTE 0x1d
#define NUMBER_MAX 0x110000
#define CTRL 4      /* of what is one less than the number that tells of modifiers */
#define RELEASE 3   /* of events */
#define MOUSE_LEN 3 /* behind CSI M */

typedef struct
{
  guint key, base, modifiers, event;
} Key;

/* Of @part of the parameter @at; @otherwise where there is none. */
static guint
number_at (const Leave *leave, guint at, guint part, guint otherwise)
{
  guint field = 0, sub = 0, number = 0;
  gboolean is_there = FALSE;

  for (gsize i = 0; i < leave->held_len; i++)
    {
      const guint8 byte = leave->held[i];

      if (byte == ';' || byte == ':')
        {
          sub = byte == ':' ? sub + 1 : 0;
          field += byte == ';' ? 1 : 0;
        }
      else if (field == at && sub == part && g_ascii_isdigit (byte))
        {
          number = MIN (number * 10 + (guint) (byte - '0'), NUMBER_MAX);
          is_there = TRUE;
        }
    }
  return is_there ? number : otherwise;
}

/* Those that kitty tells of by themselves: locks, and Shift to the fifth level's. */
static gboolean
is_modifier (guint key)
{
  return (key >= 57358 && key <= 57360) || (key >= 57441 && key <= 57454);
}

/* Of a keyboard of other letters the key counts that is in the place of ] elsewhere. */
static gboolean
leaves (const Key *key)
{
  const guint it = key->key > 0x7f && key->base != 0 ? key->base : key->key;

  return (it == ']' || it == '5') && ((key->modifiers - 1) & CTRL) != 0;
}

/* FALSE: it is an answer, or tells of the mouse, the focus or the size. */
static gboolean
read_key (const Leave *leave, guint8 last, Key *key)
{
  const gboolean is_report = leave->held_len > 0 && strchr ("<=>?", leave->held[0]) != NULL;
  const gboolean is_xterm = last == '~' && number_at (leave, 0, 0, 0) == 27;

  if (leave->is_too_long || is_report || strchr ("ABCDEFHPQSZu~", last) == NULL)
    return FALSE;
  key->modifiers = MAX (number_at (leave, 1, 0, 1), 1);
  key->event = number_at (leave, 1, 1, 1);
  if (last == 'u')
    {
      key->key = number_at (leave, 0, 0, 0);
      key->base = number_at (leave, 0, 2, 0);
    }
  else if (is_xterm)
    key->key = number_at (leave, 2, 0, 0);
  return TRUE;
}

static void
take_key (Leave *leave, const Key *key)
{
  if (key->event == RELEASE || is_modifier (key->key))
    return;
  leave->times = leaves (key) ? leave->times + 1 : 0;
}

static void
enter (Leave *leave, LeaveState state)
{
  leave->state = state;
  leave->held_len = 0;
  leave->is_too_long = FALSE;
}

static void
take_plain (Leave *leave, guint8 byte)
{
  enter (leave, byte == ESC ? LEAVE_ESCAPE : LEAVE_GROUND);
  if (byte == LEAVE_BYTE)
    leave->times++;
  else if (byte != ESC)
    leave->times = 0;
}

/* Behind ESC: CSI, the end of a string, or its beginning; or a key by itself, and Alt's. */
static void
take_escape (Leave *leave, guint8 byte)
{
  if (byte == '[')
    enter (leave, LEAVE_CONTROL);
  else if (byte == '\\')
    enter (leave, LEAVE_GROUND);
  else if (byte >= 0x20 && strchr ("PX]^_", byte) != NULL)
    enter (leave, LEAVE_STRING);
  else
    {
      leave->times = 0;
      take_plain (leave, byte);
    }
}

static void
take_control (Leave *leave, guint8 byte)
{
  Key key = { 0 };

  if (byte < 0x20 || byte > 0x7e)
    {
      take_plain (leave, byte);
      return;
    }
  if (byte < 0x40)
    {
      leave->is_too_long |= leave->held_len == sizeof leave->held;
      if (!leave->is_too_long)
        leave->held[leave->held_len++] = byte;
      return;
    }
  if (byte == 'M' && leave->held_len == 0)
    leave->skip = MOUSE_LEN;
  else if (read_key (leave, byte, &key))
    take_key (leave, &key);
  enter (leave, LEAVE_GROUND);
}

/* No answer has a control but those that end it. */
static void
take_in_string (Leave *leave, guint8 byte)
{
  if (byte == '\a')
    enter (leave, LEAVE_GROUND);
  else if (byte < 0x20)
    take_plain (leave, byte);
}

gboolean
leave_take (Leave *leave, const guint8 *bytes, gsize len)
{
  for (gsize i = 0; i < len && leave->times < LEAVE_TIMES; i++)
    {
      /* Where the mouse is is never told by a control; where that is too far, by a zero. */
      if (leave->skip > 0 && (bytes[i] >= 0x20 || bytes[i] == 0))
        {
          leave->skip--;
          continue;
        }
      leave->skip = 0;
      if (leave->state == LEAVE_ESCAPE)
        take_escape (leave, bytes[i]);
      else if (leave->state == LEAVE_CONTROL)
        take_control (leave, bytes[i]);
      else if (leave->state == LEAVE_STRING)
        take_in_string (leave, bytes[i]);
      else
        take_plain (leave, bytes[i]);
    }
  return leave->times >= LEAVE_TIMES;
}
