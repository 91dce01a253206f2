/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decodes keys.  Called by terminal.c.  What is not known is a key without a meaning, never part of
 * another one: no sequence of bytes can spell a printable character in two ways.
 */
#include "module/card/tty/keys.h"

#define ESC 0x1b
#define MAX_SEQUENCE 32

/* The end of a control sequence, by its final byte. */
static TerminalEventKind
final_kind (guint8 final, const guint8 *parameters, gsize len)
{
  switch (final)
    {
    case 'A':
      return EVENT_UP;
    case 'B':
      return EVENT_DOWN;
    case 'I':
      return EVENT_FOCUS_IN;
    case 'O':
      return EVENT_FOCUS_OUT;
    case '~':
      if (len == 1 && parameters[0] == '5')
        return EVENT_PAGE_UP;
      if (len == 1 && parameters[0] == '6')
        return EVENT_PAGE_DOWN;
      return EVENT_OTHER_KEY;
    default:
      return EVENT_OTHER_KEY;
    }
}

/* A sequence after Esc.  Returns its length, 0 where more bytes are needed. */
static gsize
decode_sequence (const guint8 *data, gsize len, TerminalEventKind *out_kind)
{
  gsize at = 2;

  *out_kind = EVENT_OTHER_KEY;
  if (len < 2)
    return 0;
  if (data[1] == 'O') /* SS3: one byte follows */
    {
      if (len < 3)
        return 0;
      *out_kind = data[2] == 'A' ? EVENT_UP : data[2] == 'B' ? EVENT_DOWN : EVENT_OTHER_KEY;
      return 3;
    }
  if (data[1] != '[')
    return 2; /* Alt and a key */
  while (at < len && at < MAX_SEQUENCE && data[at] >= 0x20 && data[at] < 0x40)
    at++;
  if (at == len && at < MAX_SEQUENCE)
    return 0;
  if (at < len)
    *out_kind = final_kind (data[at], data + 2, at - 2);
  return MIN (at + 1, len);
}

static TerminalEventKind
plain_kind (guint8 byte)
{
  switch (byte)
    {
    case '\r':
    case '\n':
      return EVENT_ENTER;
    case 0x08:
    case 0x7f:
      return EVENT_BACKSPACE;
    case 0x15: /* Ctrl-U */
      return EVENT_KILL;
    case 0x03: /* Ctrl-C, where it is not a signal */
    case 0x04: /* Ctrl-D */
      return EVENT_LEAVE;
    default:
      return byte >= 0x20 && byte < 0x7f ? EVENT_CHAR : EVENT_OTHER_KEY;
    }
}

gsize
keys_decode (const guint8 *data, gsize len, gboolean complete, GArray *out)
{
  gsize at = 0;

  while (at < len)
    {
      TerminalEvent event = { plain_kind (data[at]), (char) data[at] };
      gsize used = 1;

      if (data[at] == ESC)
        {
          used = decode_sequence (data + at, len - at, &event.kind);
          if (used == 0 && !complete)
            break;
          if (used == 0)
            {
              event.kind = len - at == 1 ? EVENT_LEAVE : EVENT_OTHER_KEY;
              used = len - at;
            }
        }
      g_array_append_val (out, event);
      at += used;
    }
  return at;
}
