/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keys of a terminal, whole, in pieces and made up. */
#include "module/card/tty/keys.h"

#include <string.h>

/* One letter a key, so that a row of them can be compared. */
static char
letter (TerminalEvent event)
{
  switch (event.kind)
    {
    case EVENT_CHAR:
      return event.c;
    case EVENT_ENTER:
      return '\n';
    case EVENT_BACKSPACE:
      return '<';
    case EVENT_KILL:
      return 'K';
    case EVENT_UP:
      return '^';
    case EVENT_DOWN:
      return 'v';
    case EVENT_PAGE_UP:
      return 'U';
    case EVENT_PAGE_DOWN:
      return 'D';
    case EVENT_LEAVE:
      return 'L';
    case EVENT_FOCUS_IN:
      return 'I';
    case EVENT_FOCUS_OUT:
      return 'O';
    case EVENT_OTHER_KEY:
      return '?';
    case EVENT_RESIZED:
    case EVENT_WOKEN:
    case EVENT_TIMEOUT:
    default:
      g_assert_not_reached ();
    }
}

static char *
decode (const char *bytes, gsize len, gboolean complete, gsize *out_used)
{
  g_autoptr (GArray) events = g_array_new (FALSE, FALSE, sizeof (TerminalEvent));
  GString *text = g_string_new (NULL);

  *out_used = keys_decode ((const guint8 *) bytes, len, complete, events);
  for (guint i = 0; i < events->len; i++)
    g_string_append_c (text, letter (g_array_index (events, TerminalEvent, i)));
  return g_string_free (text, FALSE);
}

static const struct
{
  const char *bytes;
  gsize len;
  const char *keys;
} cases[] = {
#define KEYS(bytes, keys)                                                                          \
  {                                                                                                \
    bytes, sizeof bytes - 1, keys                                                                  \
  }
  KEYS ("", ""),
  KEYS ("4f2a-91c0\r", "4f2a-91c0\n"),
  KEYS ("a\nb", "a\nb"),
  KEYS ("x\177\010", "x<<"),
  KEYS ("\025", "K"),
  KEYS ("\003\004", "LL"),
  KEYS ("\033", "L"),
  KEYS ("\033[A\033[B\033[5~\033[6~", "^vUD"),
  KEYS ("\033OA\033OB\033OP", "^v?"),
  KEYS ("\033[I\033[O", "IO"),
  KEYS ("\033[1;5A\033[15~\033[200~", "^??"), /* Ctrl-Up goes up */
  KEYS ("\033x", "?"),                        /* Alt-x is no x */
  KEYS ("\033\033", "?"),
  KEYS ("\033[y", "?"),
  KEYS ("\000\001\037", "???"),
  KEYS ("\303\251", "??"), /* no ASCII: no key that means anything here */
  KEYS ("\033[", "?"),
  KEYS ("\033[1;", "?"),
  KEYS ("\033O", "?"),
#undef KEYS
};

static void
test_keys (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      gsize used;
      g_autofree char *keys = decode (cases[i].bytes, cases[i].len, TRUE, &used);

      g_assert_cmpstr (keys, ==, cases[i].keys);
      g_assert_cmpuint (used, ==, cases[i].len);
    }
}

/* The start of a sequence is kept until the rest is there. */
static void
test_pieces (void)
{
  static const char bytes[] = "a\033[5~";
  gsize used;

  for (gsize len = 2; len < sizeof bytes - 1; len++)
    {
      g_autofree char *keys = decode (bytes, len, FALSE, &used);

      g_assert_cmpstr (keys, ==, "a");
      g_assert_cmpuint (used, ==, 1);
    }
  {
    g_autofree char *keys = decode (bytes, sizeof bytes - 1, FALSE, &used);

    g_assert_cmpstr (keys, ==, "aU");
    g_assert_cmpuint (used, ==, sizeof bytes - 1);
  }
}

/* A sequence without an end does not swallow a line for ever. */
static void
test_endless (void)
{
  g_autofree char *digits = g_strnfill (100, '1');
  g_autofree char *bytes = g_strconcat ("\033[", digits, NULL);
  gsize used;
  g_autofree char *keys = decode (bytes, strlen (bytes), FALSE, &used);

  g_assert_cmpuint (used, ==, strlen (bytes));
  g_assert_cmpint (keys[0], ==, '?');
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/keys/keys", test_keys);
  g_test_add_func ("/keys/pieces", test_pieces);
  g_test_add_func ("/keys/endless", test_endless);
  return g_test_run ();
}
