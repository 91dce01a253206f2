/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What of an agent's output passes, whole or in pieces, and what is undone after it. */
#include "module/card/tty/screen.h"

#include <string.h>

static GString *
pass (Screen *screen, const char *in, gsize len, gsize piece)
{
  GString *all = g_string_new (NULL);

  for (gsize i = 0; i < len; i += piece)
    {
      const gsize n = MIN (piece, len - i);
      g_autofree guint8 *out = g_malloc (n + SCREEN_ROOM);

      g_string_append_len (all, (const char *) out,
                           (gssize) screen_pass (screen, (const guint8 *) in + i, n, out));
    }
  return all;
}

/* NULL: as it is */
static const struct
{
  const char *in, *out;
} cases[] = {
  { "plain\ttext\r\n\a\b", NULL },
  { "\xc3\xa4\xe2\x80\x9c\xf0\x9f\x98\x80", NULL },
  { "\033[31mred\033[0m\033[2J\033[10;5H\033[K", NULL },
  { "\033[38;2;1;2;3m\033[4:3m", NULL },
  { "\033[?25l\033[?1049h\033[?1;7;2004h\033[4h", NULL },
  { "\033[6n\033[c\033[>q\033[?u\033[>1u\033[?2026$p\033[5n", NULL },
  { "\033[0c\033[>0q\033[>c\033[=c\033[?6n\033[?996n\033[4$p", NULL },
  /* terminfo's for xterm, Linux's console and tmux; what tmux, vim and Codex write. */
  { "\033[1;24r\033[3d\033[4G\033[5X\033[6@\033[7P\033[8L\033[9M\033[2S\033[3T\033[4b\033[Z",
    NULL },
  { "\033[?1h\033=\033[?12;25h\033[?5h\033[?5l\033[?1006;1000h\033[?69h\033[2;70s", NULL },
  { "\033[?25l\033[?1c\033[?25h\033[?0c\033[?8c\033[10m\033[34h\033[?25h", NULL },
  { "\033[s\033[u\033[?1048h\033[?1048l\033[?47h\033[?1047h\033[88;1;1;4;9$x", NULL },
  { "\033[>7u\033[=5;1u\033[<1u\033[<u\033[>4;2m\033[>4m\033[?1004h\033[?1007h", NULL },
  { "\033[?1002;1003;1015;1016h\033[?2026h\033[?2026l\033[?2031h\033[?2048h", NULL },
  { "\033[2 q\033[!p\0337\0338\033(0lqk\033(B\033=\033M", NULL },
  { "\033[14t\033[18t", NULL },
  { "\033]8;;https://example.com\033\\link\033]8;;\033\\", NULL },
  { "\033]8;id=1;HTTP://example.com/;x\alink\033]8;;\a", NULL },
  { "\016lqk\017\xc3\xa4\033[38;5;11m\033[48;2;11;12;13;1m\033[38:5:11m\033[1;20m", NULL },
  { "\033]10;?\033\\\033]11;?\a\033]4;1;?\a\033]104\a", NULL },
  { "\033]0;title\a", "\033[22;0t\033]0;title\a" },
  { "\033]2;a\033\\\033]2;b\033\\", "\033[22;0t\033]2;a\033\\\033]2;b\033\\" },
  /* The clipboard, files, notes, fonts; and whatever else there may be. */
  { "a\033]52;c;ZXZpbA==\ab", "ab" },
  { "a\033]52;c;?\033\\b", "ab" },
  { "a\033]052;c;x\ab\033];52;c;x\ac\033]\ad", "abcd" },
  { "a\033]00;x\ab\033]0x;y\ac", "abc" },
  { "a\033]1337;File=x:y\ab\033]5113;x\ac\033]777;x\ad\033]50;?\ae\033]7;x\af\033]9;x\ag",
    "abcdefg" },
  { "a\033]0;x\033]52;c;y\ab", "ab" },
  /* Links that lead to a file or a program. */
  { "a\033]8;;file:///x.desktop\ab\033]8;id=1;ssh://x\ac\033]8;https://x\ad\033]8\ae\033]8;;"
    "https:/x\033\\f",
    "abcdef" },
  { "a\033]8;;httpx://x\ab\033]8;x;;https://x\ac", "abc" },
  /* Linux's console: fonts with which it reads each byte for itself, and then finds U+009B's. */
  { "a\033[11mb\033[0;12mc\033[1;019md\033[38;5;1;11me\033[38;11;11mf\033[38;2;1;11mg", "abcdefg" },
  { "a\033[58;5;11mb\033[38:5:1;11mc\033[38;5:1;11md\033[48;2;1;2;3;11me\033[38;7;11mf", "abcdef" },
  { "a\016q\xdb\x9b"
    "12;3]\xc3\xa4\033]0;\xc5\x9b"
    "c\a\017\xc3\xa4",
    "a\016q12;3]\033[22;0t\033]0;c\a\017\xc3\xa4" },
  { "a\016\033[1m\xe2\x80\x9b\033cb\xc3\xa4", "a\016\033[1mb" },
  /* Numbers that are too large for one terminal or another. */
  { "a\033[10000bb\033[2147483647Sc\033[1;99999999999999999999Hd\033[1;010000re", "abcde" },
  { "\033[9999b\033[09999S", NULL },
  /* Colours that no end brings back: the pointer's, highlights', special ones. */
  { "a\033]10;#fff;#000\ab\033]12;red;blue\033\\c\033]11;;?\ad\033]13;red\ae", "abcde" },
  { "a\033]4;256;red\ab\033]4;1;red;260;red\ac\033]4;1;red;2\ad\033]4;x;y\ae\033]4;1:;y\af",
    "abcdef" },
  { "\033]4;1;red;255;?\a\033]10;red\a\033]12;#fff\033\\\033]104;1;2\a\033]112\a", NULL },
  { "a\033]0;x\030b\033]0;y\032c", "abc" },
  { "a\033]0;t\r\ni\001t\x7fle\a", "a\033[22;0t\033]0;title\a" },
  { "a\033P+q544e\033\\b\033Ptmux;\033\033]52;c;x\a\033\\c", "ab\033\\c" },
  { "a\033_Gf=100,t=f;L2V0Yw==\033\\b\033^x\033\\c\033Xx\033\\d\033kt\033\\e", "abcde" },
  { "a\033P1|17/6c73\033\\b", "ab" },
  { "a\033Px\a\r\ny\030b", "ab" },
  /* C1 in one byte, in two, and cut off. */
  { "a\x9d"
    "52;c;x\ab\xc2\x9d"
    "52;c;y\ac\x9b"
    "6nd",
    "a52;c;x\ab52;c;y\ac6nd" },
  { "a\xe2\x82z\xff\xc0\xafy\xed\xa0\x80x", "azyx" },
  /* What prints, asks for the title or the screen, or changes how bytes are read. */
  { "a\033[5ib\033[?5ic\033[4id", "abcd" },
  { "a\033[21tb\033[8;1;1tc\033[3;0;0td\033[22te\033[;tf", "abcdef" },
  { "a\033[1;1;1;1;1;1*yb\033[1*1yc\033[2;1yd", "abcd" },
  { "a\033%@b\033 Gc\033~d\033ne\033Zf\033<g\033[62\"ph", "abcdefgh" },
  { "a\033[?2lb\033[?1;2hc\033[?6rd\033[?1se", "abcde" },
  { "a\033[1'zb\033[1&xc\033[1?2hd\033[>4;1he\033[1  qf", "abcdef" },
  { "a\033[?hb\033[?1;;2hc\033[?99999hd\033[?1:25he\033[?1;hf", "abcdef" },
  /* Linux's console: another one, its screen, its bell, its lights. */
  { "a\033[12;1]b\033[15]c\033[14;1]d\033[]e\033[10;50]f\033[1qg\033[?17;0;64ch", "abcdefgh" },
  /* Modes: keys that lock, echo, lines; columns, Tektronix, logs, the window, and what waits. */
  { "a\033[2hb\033[2lc\033[12ld\033[20he\033[4;2hf", "abcdef" },
  { "a\033[?1042hb\033[?1043hc\033[?3hd\033[?38he\033[?46hf\033[?1001hg\033[?8lh", "abcdefgh" },
  { "a\033[?67hb\033[?1034hc\033[?40hd\033[?9001he\033[?25;3hf\033[>25hg", "abcdefg" },
  /* What the status line, columns, pages and the pointer are; tab stops. */
  { "a\033[132$|b\033[2$~c\033[1$}d\033[>2pe\033[>1sf\033[>1tg\033[36*|h", "abcdefgh" },
  { "a\033[3gb\033[gc\033[?5Wd\033He\033[1Vf\033[1xg\033[1;2;3;4;5Th", "abcdefgh" },
  { "a\033[>mb\033[>1;2mc\033[>04md\033[>4;2;1me\033[>4nf\033[>4;1fg\033[?4mh", "abcdefgh" },
  { "a\033[1$rb\033[1;1;9;9$zc\033[1;1$vd\033[1#pe\033[#Pf\033[1\"qg\033[3 th", "abcdefgh" },
  /* Questions in another form, which not each terminal answers; and other ones. */
  { "a\033[0;0cb\033[;cc\033[1cd\033[00ce\033[>1cf\033[7ng\033[?15nh", "abcdefgh" },
  { "a\005b\021c\023d\x7f"
    "e\177f",
    "abcdef" },
  /* One after another that has no end. */
  { "a\033[3\033[1mb", "a\033[1mb" },
  { "a\033[3\xc3\xa4"
    "1mb",
    "a\xc3\xa4"
    "1mb" },
  { "a\033[3\r1mb", "a\r\033[31mb" },
  { "a\033[3\0301mb", "a1mb" },
  { "a\033\033\033[1mb", "a\033[1mb" },
  { "a\033(\033[1mb", "a\033[1mb" },
};

static void
test_cases (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (gsize piece = 1; piece < 9; piece += 3)
      {
        const char *wanted = cases[i].out != NULL ? cases[i].out : cases[i].in;
        Screen screen = { .is_utf8 = TRUE };
        GString *out = pass (&screen, cases[i].in, strlen (cases[i].in), piece);

        g_autofree char *shown = g_strescape (out->str, NULL);

        g_test_message ("case %u: %s", i, shown);
        g_assert_cmpmem (out->str, out->len, wanted, strlen (wanted));
        g_string_free (out, TRUE);
      }
}

/* Where a character is a byte, those that are C1 are none. */
static void
test_bytes (void)
{
  static const char in[] = "\xe4\x9d"
                           "52;c;x\a\xe2\x80\x9d\xff";
  Screen screen = { .is_utf8 = FALSE };
  GString *out = pass (&screen, in, strlen (in), 1);

  g_assert_cmpstr (out->str, ==,
                   "\xe4"
                   "52;c;x\a\xe2\xff");
  g_string_free (out, TRUE);
}

static void
test_too_long (void)
{
  static const char *const begins[] = { "\033]0;", "\033[1;", "\033(" };
  static const char *const ends[] = { "\ab", "mb", "Bb" };
  g_autofree char *title = g_strnfill (SCREEN_HELD_MAX - 2, 't');
  g_autofree char *fits = g_strconcat ("\033]0;", title, "\a", NULL);
  Screen screen = { .is_utf8 = TRUE };
  GString *out = pass (&screen, fits, strlen (fits), 1000);

  g_assert_cmpuint (out->len, ==, strlen ("\033[22;0t") + strlen (fits));
  g_string_free (out, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (begins); i++)
    {
      g_autofree char *fill = g_strnfill (SCREEN_HELD_MAX, i == 2 ? '(' : '1');
      g_autofree char *in = g_strconcat (begins[i], fill, ends[i], NULL);

      out = pass (&screen, in, strlen (in), 999);
      g_assert_cmpstr (out->str, ==, "b");
      g_string_free (out, TRUE);
    }
}

static void
assert_undone (const char *in, const char *wanted, gboolean has_asked, guint asked)
{
  Screen screen = { .is_utf8 = TRUE };
  GString *out = pass (&screen, in, strlen (in), 1);
  GString *undone = screen_undo (&screen, TRUE);
  g_autofree char *shown = g_strescape (in, NULL);

  g_test_message ("%s", shown);
  g_assert_cmpstr (undone->str, ==, wanted);
  g_assert_cmpint (screen.has_asked, ==, has_asked);
  g_assert_cmpuint (screen.asked, ==, asked);
  g_string_free (out, TRUE);
  g_string_free (undone, TRUE);
}

#define PLAIN "\017\033(B\033)B\033>\033[0;10m"

static void
test_undo (void)
{
  assert_undone ("text\r\n\033]52;c;x\a", "", FALSE, 0);
  assert_undone ("\033[1mbold", PLAIN, FALSE, 0);
  assert_undone ("\016", PLAIN, FALSE, 0);
  assert_undone ("\033[?25l\033[?7l", "\033[?7h\033[?25h" PLAIN, FALSE, 0);
  assert_undone ("\033[?25l\033[?25h\033[?1h\033[?1l", PLAIN, FALSE, 0);
  assert_undone ("\033[?1049h\033[?1000;1006h\033[?2004h\033[?1004h",
                 "\033[?1000l\033[?1004l\033[?1006l\033[?1049l\033[?2004l" PLAIN, TRUE, 0);
  assert_undone ("\033[4h\033[34l", "\033[4l\033[34h" PLAIN, FALSE, 0);
  assert_undone ("\033[?25l\033[?25;2h", "\033[?25h" PLAIN, FALSE, 0);
  assert_undone ("\033[?2;1000h", "", FALSE, 0);
  assert_undone ("\033[?1c", "\033[?0c" PLAIN, FALSE, 0);
  assert_undone ("\033[5;10r", "\0337\033[r\0338" PLAIN, FALSE, 0);
  assert_undone ("\033[5 q", "\033[0 q" PLAIN, FALSE, 0);
  assert_undone ("\033[?1049h\033[>1u",
                 "\033[>4m\033[<99u\033[=0;1u\033[?1049l\033[>4m\033[<99u\033[=0;1u" PLAIN, TRUE,
                 0);
  assert_undone ("\033]2;t\a", "\033[23;0t" PLAIN, FALSE, 0);
  assert_undone ("\033]8;;http://u\a", "\033]8;;\033\\" PLAIN, FALSE, 0);
  assert_undone ("\033]11;#fff\a", "\033]104\033\\\033]110\033\\\033]111\033\\\033]112\033\\" PLAIN,
                 FALSE, 0);
  /* Questions, of which one is the one that is asked last. */
  assert_undone ("\033[c\033[0c\033[6n", PLAIN, TRUE, 2);
  assert_undone ("\033[>c\033[=c", PLAIN, TRUE, 0);
  assert_undone ("\033[0;0c\033[;c\033[1c", "", FALSE, 0);
  assert_undone ("\033]11;?\a", "\033]104\033\\\033]110\033\\\033]111\033\\\033]112\033\\" PLAIN,
                 TRUE, 0);
}

/* Where its end may be lost, all that ever was set is undone, and no title is taken back. */
static void
test_undo_lost (void)
{
  static const struct
  {
    const char *in, *undone;
  } losses[] = {
    { "text", "" },
    { "\033[?1003h\033[?25l\033[?1003l\033[?25h", "\030\033[?25h\033[?1003l" PLAIN },
    { "\033[?25h\033[?1003l", "\030" PLAIN },
    { "\033[?1;2004h\033[?1;2004l", "\030\033[?1l\033[?2004l" PLAIN },
    { "\033]0;t\a", "\030\033]0;\033\\" PLAIN },
  };

  for (guint i = 0; i < G_N_ELEMENTS (losses); i++)
    {
      Screen screen = { .is_utf8 = TRUE };
      GString *out = pass (&screen, losses[i].in, strlen (losses[i].in), 1);
      GString *undone = screen_undo (&screen, FALSE);

      g_assert_cmpstr (undone->str, ==, losses[i].undone);
      g_string_free (out, TRUE);
      g_string_free (undone, TRUE);
    }
}

/* Of all modes and last bytes that there are those pass that are listed, and no other. */
static void
test_all (void)
{
  static const char wanted[] =
      "[?1h[?5h[?7h[?9h[?12h[?25h[?47h[?69h[?1000h[?1002h[?1003h[?1004h[?1006h[?1007h"
      "[?1015h[?1016h[?1047h[?1048h[?1049h[?2004h[?2026h[?2031h[?2048h[4h[34h"
      "[@[A[B[C[D[E[F[G[H[I[J[K[L[M[P[S[T[X[Z[`[a[b[c[d[e[f[m[r[s[u";
  Screen screen = { .is_utf8 = TRUE };
  g_autoptr (GString) in = g_string_new (NULL);
  GString *out = NULL;
  g_auto (GStrv) parts = NULL;
  g_autofree char *joined = NULL;

  for (guint i = 0; i < 10100; i++)
    g_string_append_printf (in, "\033[?%uh", i);
  for (guint i = 0; i < 100; i++)
    g_string_append_printf (in, "\033[%uh", i);
  for (char c = '@'; c <= '~'; c++)
    g_string_append_printf (in, "\033[%c", c);
  out = pass (&screen, in->str, in->len, 1000);
  parts = g_strsplit (out->str, "\033", -1);
  joined = g_strjoinv (NULL, parts);
  g_assert_cmpstr (joined, ==, wanted);
  g_string_free (out, TRUE);
}

/* Of noise: the same however it is cut, each ESC begins what may pass, and nothing is left to run.
 */
static void
test_noise (void)
{
  static const char *const words[] = { "\033", "\033[", "\033]", "\033P", "\033\\", "\a",
                                       "0;",   "52;",   "8;",    "c",     "?",      "25",
                                       "h",    "l",     "\x9d",  "\xc2",  "\x9b",   "\xe2",
                                       "\x80", "t",     "i",     "*",     "y",      "\030" };

  for (guint round = 0; round < 3000; round++)
    {
      Screen one = { .is_utf8 = TRUE }, other = { .is_utf8 = TRUE };
      g_autoptr (GString) in = g_string_new (NULL);
      GString *out = NULL, *same = NULL;

      for (guint i = 0; i < 30; i++)
        g_string_append (in, words[g_test_rand_int_range (0, G_N_ELEMENTS (words))]);
      out = pass (&one, in->str, in->len, 1);
      same = pass (&other, in->str, in->len, in->len);
      g_assert_cmpmem (out->str, out->len, same->str, same->len);
      g_assert_true (g_utf8_validate (out->str, (gssize) out->len, NULL));
      for (const char *c = strchr (out->str, '\033'); c != NULL; c = strchr (c + 1, '\033'))
        {
          g_assert_true (strchr ("[8*", c[1]) != NULL || c[1] == '\\' ||
                         g_str_has_prefix (c, "\033]0;") || g_str_has_prefix (c, "\033]8;"));
          if (c[1] == ']')
            g_assert_nonnull (strpbrk (c + 2, "\a\033"));
        }
      g_string_free (out, TRUE);
      g_string_free (same, TRUE);
    }
}

/* Whose answers would go to another: it draws, and asks nothing. */
static void
test_deaf (void)
{
  static const char *const nothing[] = {
    "\033[6n",     "\033[c",       "\033[0c",      "\033[>q",       "\033[>c",
    "\033[=c",     "\033[5n",      "\033[?6n",     "\033[?996n",    "\033[?u",
    "\033[>1u",    "\033[14t",     "\033[4$p",     "\033[?2026$p",  "\033]10;?\033\\",
    "\033[?9h",    "\033[?1000h",  "\033[?1004h",  "\033[?1;1003h", "\033]4;1;?\a",
    "\033[?2004h", "\033[?2031h",  "\033[?2048h",  "\033[>4;2m",    "\033]11;red;?\a",
  };
  static const char *const as_it_is[] = {
    "\033[31mred\033[0m\033[2J\033[10;5H", "\033[?25l\033[?1049h\033[?2026h\033[?1;7h\033[4h",
    "\033]8;;https://example.com/?q\033\\", "\033]10;red\a",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (nothing) + G_N_ELEMENTS (as_it_is); i++)
    {
      const gboolean asks = i < G_N_ELEMENTS (nothing);
      const char *in = asks ? nothing[i] : as_it_is[i - G_N_ELEMENTS (nothing)];
      Screen screen = { .is_utf8 = TRUE, .is_deaf = TRUE };
      GString *out = pass (&screen, in, strlen (in), 1);

      g_test_message ("%s", in + 1);
      g_assert_cmpstr (out->str, ==, asks ? "" : in);
      g_string_free (out, TRUE);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/card-screen/cases", test_cases);
  g_test_add_func ("/card-screen/bytes", test_bytes);
  g_test_add_func ("/card-screen/too-long", test_too_long);
  g_test_add_func ("/card-screen/undo", test_undo);
  g_test_add_func ("/card-screen/undo-lost", test_undo_lost);
  g_test_add_func ("/card-screen/all", test_all);
  g_test_add_func ("/card-screen/noise", test_noise);
  g_test_add_func ("/card-screen/deaf", test_deaf);
  return g_test_run ();
}
