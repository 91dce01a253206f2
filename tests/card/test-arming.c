/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The arming of a card: every order of events that is not "drawn, seen to its end, focused for a
 * second with no change" leaves Approve dead.
 */
#include "module/card/model/arming.h"

#define SECOND ((guint64) G_USEC_PER_SEC)
#define START (100 * SECOND)

static Arming
ready (void)
{
  Arming arming;

  arming_init (&arming, FALSE);
  arming_content (&arming, FALSE, START);
  arming_focus (&arming, TRUE, START);
  arming_seen (&arming);
  return arming;
}

static void
test_plain (void)
{
  Arming arming = ready ();

  g_assert_false (arming_is_armed (&arming, START));
  g_assert_cmpuint (arming_wait (&arming, START), ==, SECOND);
  g_assert_false (arming_is_armed (&arming, START + SECOND - 1));
  g_assert_cmpuint (arming_wait (&arming, START + SECOND - 1), ==, 1);
  g_assert_true (arming_is_armed (&arming, START + SECOND));
  g_assert_true (arming_is_armed (&arming, START + 3600 * SECOND));
}

/* What is missing one at a time, long after a second has passed. */
static void
test_missing (void)
{
  const guint64 later = START + 10 * SECOND;
  Arming arming;

  arming_init (&arming, FALSE);
  g_assert_false (arming_is_armed (&arming, later));

  arming_init (&arming, FALSE); /* never drawn */
  arming_focus (&arming, TRUE, START);
  arming_seen (&arming);
  g_assert_false (arming_is_armed (&arming, later));

  arming_init (&arming, FALSE); /* never focused */
  arming_content (&arming, FALSE, START);
  arming_seen (&arming);
  g_assert_false (arming_is_armed (&arming, later));

  arming_init (&arming, FALSE); /* not seen to its end */
  arming_content (&arming, FALSE, START);
  arming_focus (&arming, TRUE, START);
  g_assert_false (arming_is_armed (&arming, later));
  g_assert_cmpuint (arming_wait (&arming, later), ==, G_MAXUINT64);

  arming = ready (); /* seen before it was drawn does not count */
  arming_content (&arming, FALSE, START);
  g_assert_false (arming_is_armed (&arming, later));
}

static void
test_barred (void)
{
  Arming arming;

  arming_init (&arming, TRUE);
  arming_content (&arming, TRUE, START);
  arming_focus (&arming, TRUE, START);
  arming_seen (&arming);
  g_assert_false (arming_is_armed (&arming, START + 10 * SECOND));
  g_assert_false (arming_take (&arming, START + 10 * SECOND));

  arming = ready (); /* a card that becomes deny-only while it is open */
  arming_content (&arming, TRUE, START + 2 * SECOND);
  arming_seen (&arming);
  g_assert_false (arming_is_armed (&arming, START + 10 * SECOND));
}

static void
test_focus_lost (void)
{
  Arming arming = ready ();
  const guint64 lost = START + 5 * SECOND, back = START + 6 * SECOND;

  arming_focus (&arming, FALSE, lost);
  g_assert_false (arming_is_armed (&arming, back));
  arming_focus (&arming, TRUE, back);
  g_assert_false (arming_is_armed (&arming, back + SECOND - 1));
  g_assert_true (arming_is_armed (&arming, back + SECOND));

  arming_focus (&arming, TRUE, back + 5 * SECOND); /* told again: nothing happened */
  g_assert_true (arming_is_armed (&arming, back + 5 * SECOND));
}

static void
test_content_changed (void)
{
  Arming arming = ready ();
  const guint64 changed = START + 5 * SECOND;

  arming_content (&arming, FALSE, changed);
  g_assert_false (arming_is_armed (&arming, changed + 10 * SECOND));
  arming_seen (&arming);
  g_assert_true (arming_is_armed (&arming, changed + SECOND));
  g_assert_false (arming_is_armed (&arming, changed + SECOND - 1));
}

static void
test_moved (void)
{
  Arming arming = ready ();
  const guint64 moved = START + 5 * SECOND;

  arming_moved (&arming, moved);
  g_assert_false (arming_is_armed (&arming, moved + SECOND - 1));
  g_assert_true (arming_is_armed (&arming, moved + SECOND));
}

/* One look, one approval. */
static void
test_taken_once (void)
{
  Arming arming = ready ();
  const guint64 later = START + 2 * SECOND;

  g_assert_false (arming_take (&arming, START));
  g_assert_true (arming_take (&arming, later));
  g_assert_false (arming_take (&arming, later));
  arming_seen (&arming);
  g_assert_false (arming_take (&arming, later + 10 * SECOND));
}

static void
test_clock_goes_back (void)
{
  Arming arming = ready ();

  g_assert_false (arming_is_armed (&arming, 0));
  g_assert_cmpuint (arming_wait (&arming, 0), ==, SECOND);
  arming_moved (&arming, G_MAXUINT64);
  g_assert_false (arming_is_armed (&arming, START + 10 * SECOND));
}

/* Every sequence of six events: armed only where the definition says so. */
static void
test_all_sequences (void)
{
  enum
  {
    CONTENT,
    BAR,
    FOCUS,
    BLUR,
    SEEN,
    MOVED,
    SHORT,
    LONG,
    EVENTS
  };
  guint armed = 0;

  for (guint n = 0; n < 262144; n++) /* 8^6 */
    {
      Arming arming;
      gboolean shown = FALSE, barred = FALSE, focused = FALSE, seen = FALSE;
      guint64 now = START, changed = START;

      arming_init (&arming, FALSE);
      for (guint i = 0, rest = n; i < 6; i++, rest /= EVENTS)
        switch (rest % EVENTS)
          {
          case CONTENT:
          case BAR:
            barred = rest % EVENTS == BAR;
            shown = TRUE;
            seen = FALSE;
            changed = now;
            arming_content (&arming, barred, now);
            break;
          case FOCUS:
          case BLUR:
            if (focused != (rest % EVENTS == FOCUS))
              changed = now;
            focused = rest % EVENTS == FOCUS;
            arming_focus (&arming, focused, now);
            break;
          case SEEN:
            seen = shown;
            arming_seen (&arming);
            break;
          case MOVED:
            changed = now;
            arming_moved (&arming, now);
            break;
          case SHORT:
            now += SECOND / 2;
            break;
          default:
            now += SECOND;
            break;
          }
      g_assert_true (arming_is_armed (&arming, now) ==
                     (shown && !barred && focused && seen && now - changed >= SECOND));
      armed += (guint) arming_is_armed (&arming, now);
    }
  g_assert_cmpuint (armed, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/arming/plain", test_plain);
  g_test_add_func ("/arming/missing", test_missing);
  g_test_add_func ("/arming/barred", test_barred);
  g_test_add_func ("/arming/focus-lost", test_focus_lost);
  g_test_add_func ("/arming/content-changed", test_content_changed);
  g_test_add_func ("/arming/moved", test_moved);
  g_test_add_func ("/arming/taken-once", test_taken_once);
  g_test_add_func ("/arming/clock-goes-back", test_clock_goes_back);
  g_test_add_func ("/arming/all-sequences", test_all_sequences);
  return g_test_run ();
}
