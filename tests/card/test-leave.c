/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ctrl-] three times, in each form that a terminal sends it in, and what is not that. */
#include "module/card/tty/leave.h"

#include <string.h>

#define KITTY "\033[93;5u"
#define XTERM "\033[27;5;93~"

static const struct
{
  const char *in;
  gboolean leaves;
} cases[] = {
  { "\035\035\035", TRUE },
  { "\035\035x\035", FALSE },
  { "\035\035", FALSE },
  { "abc\035\035\035", TRUE },
  { "\035\035x\035\035\035", TRUE },
  { KITTY KITTY KITTY, TRUE },
  { XTERM XTERM XTERM, TRUE },
  { "\035" KITTY XTERM, TRUE },
  { KITTY KITTY, FALSE },
  { KITTY KITTY "x" KITTY, FALSE },
  { KITTY KITTY "\033[120u" KITTY, FALSE },
  { XTERM XTERM "\033[27;5;120~" XTERM, FALSE },
  /* Caps Lock, Num Lock, both; Shift; other names of the key, and of the one at its place. */
  { "\033[93;69u\033[93;133u\033[93;197u", TRUE },
  { "\033[27;69;93~\033[27;133;93~\033[27;6;93~", TRUE },
  { "\033[93:125;6u\033[93::93;5u\033[1098::93;5u", TRUE },
  { "\033[53;5u\033[27;5;53~\035", TRUE },
  /* Without Ctrl, with no modifier, of other keys. */
  { "\033[93u\033[93u\033[93u", FALSE },
  { "\033[93;3u\033[93;65u\033[93;129u", FALSE },
  { "\033[93;0u\033[93;0u\033[93;0u", FALSE },
  { "\033[43::93;5u\033[43::93;5u\033[43::93;5u", FALSE },
  { "\033[27;1;93~\033[27;1;93~\033[27;1;93~", FALSE },
  { "\033[28;5;93~\033[28;5;93~\033[28;5;93~", FALSE },
  { "\033[193;5u\033[930;5u\033[9;5u", FALSE },
  /* Events: pressed, held; let go of, which is no key; and text that comes along. */
  { "\033[93;5:1u\033[93;5:3u\033[93;5:1u\033[93;5:3u\033[93;5:1u", TRUE },
  { "\033[93;5:1u\033[93;5:2u\033[93;5:2u", TRUE },
  { "\033[93;5:3u\033[93;5:3u\033[93;5:3u", FALSE },
  { KITTY "\033[120;1:3u" KITTY KITTY, TRUE },
  { "\033[93;5;93u\033[93;5;93u\033[93;5;93u", TRUE },
  /* Keys that only modify. */
  { "\033[57442;5u" KITTY "\033[57442;1:3u\033[57442;5u" KITTY "\033[57358;64u" KITTY, TRUE },
  { KITTY KITTY "\033[57441;2u\033[57360;129u\033[57454u" KITTY, TRUE },
  { KITTY KITTY "\033[57399;129u" KITTY, FALSE },
  /* What is no key does not help a command: answers, the focus, the mouse, sizes. */
  { "\035\033[?62;22c\035\033[24;80R\033[0n\033[?1u\035", TRUE },
  { KITTY "\033P>|xterm(400)\033\\" KITTY "\033]11;rgb:0/0/0\033\\\033]10;rgb:f/f/f\a" KITTY,
    TRUE },
  { KITTY "\033[I\033[O\033[<35;10;10M\033[<0;1;1m\033[M !!" KITTY "\033[48;24;80;0;0t" KITTY,
    TRUE },
  { KITTY "\033[?2026;2$y\033[8;24;80t\033[>1;2;3c" KITTY KITTY, TRUE },
  /* Other keys do: of the cursor, of functions, Escape, Alt, a paste. */
  { "\035\035\033[A\035", FALSE },
  { "\035\035\033OA\035", FALSE },
  { "\035\035\033[1;5B\035", FALSE },
  { "\035\035\033[5~\035", FALSE },
  { "\035\035\033\035", FALSE },
  { "\035\035\033x\035", FALSE },
  { "\035\035\033[200~", FALSE },
  { "\035\035\r\035", FALSE },
  { "\035\035\xc3\xa4\035", FALSE },
  /* What begins and does not end holds nobody up. */
  { "\033P\035\035\035", TRUE },
  { "\033]0;\035\035\035", TRUE },
  { "\033[\035\035\035", TRUE },
  { "\033[M\035\035\035", TRUE },
  { "\033[1;2\033[93;5u" KITTY KITTY, TRUE },
  { "\033Pabc" KITTY KITTY KITTY, TRUE },
  { "\033\033\035\035\035", TRUE },
};

static void
test_cases (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (gsize piece = 1; piece < 12; piece++)
      {
        const gsize len = strlen (cases[i].in);
        Leave leave = { 0 };
        gboolean left = FALSE;
        g_autofree char *shown = g_strescape (cases[i].in, NULL);

        g_test_message ("case %u in pieces of %" G_GSIZE_FORMAT ": %s", i, piece, shown);
        for (gsize at = 0; at < len && !left; at += piece)
          left = leave_take (&leave, (const guint8 *) cases[i].in + at, MIN (piece, len - at));
        g_assert_cmpint (left, ==, cases[i].leaves);
      }
}

/* A mouse that is too far away is told of by zeros, and is no key. */
static void
test_far_mouse (void)
{
  static const char in[] = KITTY KITTY "\033[M\000\000\000" KITTY;
  Leave leave = { 0 };

  g_assert_true (leave_take (&leave, (const guint8 *) in, sizeof in - 1));
}

/* A sequence that is too long is no key, and the next one is. */
static void
test_too_long (void)
{
  g_autofree char *fill = g_strnfill (LEAVE_HELD_MAX, '0');
  g_autofree char *too_long = g_strconcat ("\033[", fill, "93;5u", NULL);
  g_autofree char *in = g_strconcat (too_long, too_long, too_long, KITTY, KITTY, NULL);
  Leave leave = { 0 };

  g_assert_false (leave_take (&leave, (const guint8 *) in, strlen (in)));
  g_assert_true (leave_take (&leave, (const guint8 *) KITTY, strlen (KITTY)));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/card-leave/cases", test_cases);
  g_test_add_func ("/card-leave/far-mouse", test_far_mouse);
  g_test_add_func ("/card-leave/too-long", test_too_long);
  return g_test_run ();
}
