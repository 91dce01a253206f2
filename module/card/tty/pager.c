/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shows a card on a terminal and says what the person did.  Called by verb-approve.c.  Every page
 * begins with an empty input; a page that does not fit is not shown; a resize, a changed card or a
 * lost focus starts the arming anew.  Must never return PAGER_APPROVE but through arming_take().
 */
#include "module/card/tty/pager.h"

#include "module/card/model/arming.h"
#include "module/card/tty/layout.h"
#include "module/card/tty/text.h"
#include "service/base/clock.h"

#include <string.h>

#define HEAD_ROWS 2
#define ENTRY_MAX 32 /* fits the narrowest window */
#define DENY_WORD "deny"

struct Pager
{
  Terminal *terminal;
  const Card *card;
  char *bar, *notice;
  Arming arming;
  gboolean too_small;
  GPtrArray *lines;
  GArray *starts; /* (element-type guint): of each page */
  guint page;
  guint columns;
  gboolean prompted; /* the line for the fingerprint is alive */
  char entry[ENTRY_MAX + 1];
  gsize entry_len;
};

static const struct
{
  const char *word, *text;
} reasons[] = {
  { "wrong-target", "the wrong person, place or thing" },
  { "wrong-content", "right in kind, wrong in content" },
  { "not-now", "not now" },
  { "suspicious", "something is wrong with the agent" },
  { "other", "something else" },
};

Pager *
pager_new (Terminal *terminal)
{
  Pager *pager = g_new0 (Pager, 1);

  pager->terminal = terminal;
  arming_init (&pager->arming, TRUE);
  arming_focus (&pager->arming, TRUE, clock_boottime ());
  return pager;
}

void
pager_free (Pager *pager)
{
  if (pager == NULL)
    return;
  g_clear_pointer (&pager->lines, g_ptr_array_unref);
  g_clear_pointer (&pager->starts, g_array_unref);
  g_free (pager->bar);
  g_free (pager->notice);
  g_free (pager);
}

static gboolean
is_barred (const Pager *pager)
{
  return pager->bar != NULL || card_deny_only (pager->card) != NULL;
}

static gboolean
at_end (const Pager *pager)
{
  return !pager->too_small && pager->page + 1 == pager->starts->len;
}

/* --- drawing --- */

static void
put_line (Pager *pager, TerminalStyle style, const char *text)
{
  terminal_put (pager->terminal, STYLE_PLAIN, " ");
  terminal_put (pager->terminal, style, text);
  terminal_newline (pager->terminal);
}

static void
put_rule (Pager *pager)
{
  const char *dash = terminal_is_utf8 (pager->terminal) ? "\xe2\x94\x80" : "-";
  g_autoptr (GString) rule = g_string_new (NULL);

  for (guint i = 2; i < MIN (pager->columns, LAYOUT_MAX_COLUMNS); i++)
    g_string_append (rule, dash);
  put_line (pager, STYLE_FAINT, rule->str);
}

/* A word of ours about the page, in one line: as much of it as fits. */
static void
put_fitting (Pager *pager, TerminalStyle style, const char *text)
{
  g_autoptr (GPtrArray) pieces = text_wrap (text, MIN (pager->columns, LAYOUT_MAX_COLUMNS) - 2);

  put_line (pager, style, g_ptr_array_index (pieces, 0));
}

static TerminalStyle
style_of (LineStyle style)
{
  switch (style)
    {
    case LINE_HEADING:
      return STYLE_BOLD;
    case LINE_DANGER:
      return STYLE_DANGER;
    case LINE_WARNING:
      return STYLE_WARNING;
    case LINE_FAINT:
      return STYLE_FAINT;
    case LINE_PLAIN:
    default:
      return STYLE_PLAIN;
    }
}

static void
put_title (Pager *pager, const char *left, const char *right)
{
  guint width = MIN (pager->columns, LAYOUT_MAX_COLUMNS) - 2;
  guint used = text_width (left) + text_width (right) + 2;
  g_autofree char *gap = g_strnfill (width > used ? width - used : 1, ' ');
  g_autofree char *title = g_strconcat (" ", left, gap, right, " ", NULL);

  put_line (pager, STYLE_TITLE, title);
}

static void
put_head (Pager *pager, const Line *first)
{
  g_autofree char *pages = g_strdup_printf ("page %u of %u", pager->page + 1, pager->starts->len);
  g_autofree char *goes_on = NULL;

  put_title (pager, pager->columns < 60 ? "UNDERSIGN" : "UNDERSIGN  an agent asks", pages);
  if (pager->notice != NULL && pager->page == 0)
    put_fitting (pager, STYLE_WARNING, pager->notice);
  else if (!first->first)
    {
      goes_on = g_strdup_printf ("%s, continued:", first->continued);
      put_fitting (pager, STYLE_BOLD, goes_on);
    }
  else
    terminal_newline (pager->terminal);
}

static void
put_prompt (Pager *pager)
{
  terminal_put (pager->terminal, STYLE_PLAIN, " > ");
  terminal_put (pager->terminal, STYLE_BOLD, pager->entry);
  terminal_show (pager->terminal);
}

/* What the person can do, in lines that fit; the last page has another choice than the others. */
static GPtrArray *
foot_lines (const Pager *pager, gboolean end)
{
  const guint width = MIN (pager->columns, LAYOUT_MAX_COLUMNS) - 2;
  g_autofree char *action = NULL;
  g_autoptr (GPtrArray) help = NULL;
  GPtrArray *lines = NULL;

  if (!end)
    action = g_strdup ("Space: next page   b: back   d: deny");
  else if (is_barred (pager))
    action = g_strdup ("It can't be approved here. To deny it, type deny and press Enter.");
  else
    action = g_strdup_printf ("To approve, type the fingerprint %s and press Enter.",
                              card_fingerprint (pager->card));
  help =
      text_wrap (!end                ? "Esc: leave without an answer"
                 : is_barred (pager) ? "Page Up: back   Esc: leave without an answer"
                                     : "deny: deny it   Page Up: back   Esc: leave it unanswered",
                 width);
  lines = text_wrap (action, width);
  g_ptr_array_extend_and_steal (lines, g_steal_pointer (&help));
  return lines;
}

static void
put_foot (Pager *pager)
{
  g_autoptr (GPtrArray) lines = foot_lines (pager, at_end (pager));

  put_rule (pager);
  for (guint i = 0; i < lines->len; i++)
    put_line (pager, i == 0 && at_end (pager) ? STYLE_BOLD : STYLE_PLAIN,
              g_ptr_array_index (lines, i));
}

/* Rows that no page may use: the rule, the longer of the two feet, and the line to type in. */
static guint
foot_rows (const Pager *pager)
{
  g_autoptr (GPtrArray) middle = foot_lines (pager, FALSE);
  g_autoptr (GPtrArray) end = foot_lines (pager, TRUE);

  return MAX (middle->len, end->len) + 2;
}

static void
draw_too_small (Pager *pager)
{
  g_autofree char *text = g_strdup_printf ("A card needs a window of at least %d columns and %d "
                                           "lines. Enlarge it, or press Esc.",
                                           PAGER_MIN_COLUMNS, PAGER_MIN_ROWS);

  terminal_begin_page (pager->terminal);
  terminal_put (pager->terminal, STYLE_WARNING, text);
  terminal_end_page (pager->terminal);
}

static gboolean
is_blank (const Line *line)
{
  return line->label[0] == '\0' && line->text[0] == '\0' && line->first;
}

static void
draw (Pager *pager)
{
  guint start, end;

  pager->prompted = FALSE;
  pager->entry_len = 0;
  pager->entry[0] = '\0';
  if (pager->too_small)
    {
      draw_too_small (pager);
      return;
    }
  start = g_array_index (pager->starts, guint, pager->page);
  end = at_end (pager) ? pager->lines->len : g_array_index (pager->starts, guint, pager->page + 1);
  while (start + 1 < end && is_blank (g_ptr_array_index (pager->lines, start)))
    start++;
  terminal_begin_page (pager->terminal);
  put_head (pager, g_ptr_array_index (pager->lines, start));
  for (guint i = start; i < end; i++)
    {
      const Line *line = g_ptr_array_index (pager->lines, i);

      terminal_put (pager->terminal, STYLE_PLAIN, " ");
      terminal_put (pager->terminal, STYLE_BOLD, line->label);
      terminal_put (pager->terminal, style_of (line->style), line->text);
      terminal_newline (pager->terminal);
    }
  put_foot (pager);
  terminal_end_page (pager->terminal);
  arming_moved (&pager->arming, clock_boottime ());
  if (at_end (pager))
    arming_seen (&pager->arming);
}

/* Lays the card out for the window as it is now; nobody has seen this layout. */
static void
lay_out (Pager *pager)
{
  LayoutOptions options = { .utf8 = terminal_is_utf8 (pager->terminal),
                            .bar = pager->bar,
                            .boottime = clock_boottime () };
  guint rows = 0, start = 0;

  terminal_size (pager->terminal, &pager->columns, &rows);
  options.columns = pager->columns;
  pager->too_small = pager->columns < PAGER_MIN_COLUMNS || rows < PAGER_MIN_ROWS;
  g_clear_pointer (&pager->lines, g_ptr_array_unref);
  g_clear_pointer (&pager->starts, g_array_unref);
  pager->starts = g_array_new (FALSE, FALSE, sizeof (guint));
  pager->lines = layout_card (pager->card, &options);
  pager->page = 0;
  while (!pager->too_small && start < pager->lines->len)
    {
      g_array_append_val (pager->starts, start);
      start = layout_page (pager->lines, start, rows - HEAD_ROWS - foot_rows (pager));
    }
  arming_content (&pager->arming, is_barred (pager), clock_boottime ());
  draw (pager);
}

void
pager_show (Pager *pager, const Card *card, const char *bar, const char *notice)
{
  pager->card = card;
  g_free (pager->bar);
  g_free (pager->notice);
  pager->bar = g_strdup (bar);
  pager->notice = g_strdup (notice);
  lay_out (pager);
}

/* --- answering --- */

static void
turn_page (Pager *pager, int by)
{
  if (pager->too_small || (by < 0 && pager->page == 0) || (by > 0 && at_end (pager)))
    return;
  pager->page = by < 0 ? pager->page - 1 : pager->page + 1;
  draw (pager);
}

/* Before the last page: single keys. */
static gboolean
handle_page_key (Pager *pager, TerminalEvent event, PagerResult *out_result)
{
  char c = event.kind == EVENT_CHAR ? event.c : '\0';

  if (event.kind == EVENT_ENTER || event.kind == EVENT_DOWN || event.kind == EVENT_PAGE_DOWN ||
      c == ' ')
    turn_page (pager, 1);
  else if (event.kind == EVENT_UP || event.kind == EVENT_PAGE_UP || event.kind == EVENT_BACKSPACE ||
           c == 'b')
    turn_page (pager, -1);
  else if (c == 'd' && !pager->too_small)
    {
      *out_result = PAGER_DENY;
      return TRUE;
    }
  return FALSE;
}

static PagerResult
judge_entry (Pager *pager)
{
  if (strcmp (pager->entry, DENY_WORD) == 0)
    return PAGER_DENY;
  if (!is_barred (pager) && strcmp (pager->entry, card_fingerprint (pager->card)) == 0 &&
      arming_take (&pager->arming, clock_boottime ()))
    return PAGER_APPROVE;
  return PAGER_WRONG;
}

/* On the last page: one line; dead until the card is armed, but for turning back. */
static gboolean
handle_entry_key (Pager *pager, TerminalEvent event, PagerResult *out_result)
{
  if (event.kind == EVENT_UP || event.kind == EVENT_PAGE_UP)
    {
      turn_page (pager, -1);
      return FALSE;
    }
  if (!pager->prompted)
    return FALSE;
  if (event.kind == EVENT_ENTER && pager->entry_len > 0)
    {
      *out_result = judge_entry (pager);
      return TRUE;
    }
  if (event.kind == EVENT_CHAR && event.c == ' ' && pager->entry_len == 0)
    return FALSE; /* one press too many on the way to the last page */
  if (event.kind == EVENT_CHAR && pager->entry_len < ENTRY_MAX)
    {
      char text[] = { event.c, '\0' };

      pager->entry[pager->entry_len++] = event.c;
      pager->entry[pager->entry_len] = '\0';
      terminal_put (pager->terminal, STYLE_BOLD, text);
      terminal_show (pager->terminal);
    }
  else if (event.kind == EVENT_BACKSPACE || event.kind == EVENT_KILL)
    while (pager->entry_len > 0)
      {
        pager->entry[--pager->entry_len] = '\0';
        terminal_erase_char (pager->terminal);
        if (event.kind == EVENT_BACKSPACE)
          break;
      }
  return FALSE;
}

/* The line comes alive when the card is armed; a card that is deny-only waits as long. */
static void
update_prompt (Pager *pager)
{
  guint64 now = clock_boottime ();
  Arming as_if = pager->arming;

  as_if.barred = FALSE;
  if (!at_end (pager) || pager->prompted || !arming_is_armed (&as_if, now))
    return;
  terminal_flush_input (pager->terminal);
  pager->prompted = TRUE;
  put_prompt (pager);
}

static gint64
next_timeout (const Pager *pager)
{
  Arming as_if = pager->arming;
  guint64 wait;

  as_if.barred = FALSE;
  wait = arming_wait (&as_if, clock_boottime ());
  return pager->prompted || wait == G_MAXUINT64 ? -1 : (gint64) wait;
}

static void
handle_focus (Pager *pager, gboolean focused)
{
  gboolean had_prompt = pager->prompted;

  arming_focus (&pager->arming, focused, clock_boottime ());
  if (had_prompt)
    draw (pager);
}

PagerResult
pager_run (Pager *pager)
{
  PagerResult result = PAGER_LEFT;

  for (;;)
    {
      TerminalEvent event;

      update_prompt (pager);
      event = terminal_wait (pager->terminal, next_timeout (pager));
      switch (event.kind)
        {
        case EVENT_LEAVE:
          return PAGER_LEFT;
        case EVENT_WOKEN:
          return PAGER_WOKEN;
        case EVENT_RESIZED:
          lay_out (pager);
          break;
        case EVENT_FOCUS_IN:
        case EVENT_FOCUS_OUT:
          handle_focus (pager, event.kind == EVENT_FOCUS_IN);
          break;
        case EVENT_TIMEOUT:
          break;
        case EVENT_CHAR:
        case EVENT_ENTER:
        case EVENT_BACKSPACE:
        case EVENT_KILL:
        case EVENT_UP:
        case EVENT_DOWN:
        case EVENT_PAGE_UP:
        case EVENT_PAGE_DOWN:
        case EVENT_OTHER_KEY:
        default:
          if (at_end (pager) ? handle_entry_key (pager, event, &result)
                             : handle_page_key (pager, event, &result))
            return result;
          break;
        }
    }
}

void
pager_begin (Pager *pager, const char *title)
{
  guint rows = 0;

  terminal_size (pager->terminal, &pager->columns, &rows);
  pager->columns = MAX (pager->columns, PAGER_MIN_COLUMNS);
  terminal_begin_page (pager->terminal);
  put_title (pager, "UNDERSIGN", title);
  terminal_newline (pager->terminal);
}

const char *
pager_ask_reason (Pager *pager)
{
  pager_begin (pager, "why is it denied?");
  for (guint i = 0; i < G_N_ELEMENTS (reasons); i++)
    {
      g_autofree char *line = g_strdup_printf ("%u  %s", i + 1, reasons[i].text);

      put_line (pager, STYLE_PLAIN, line);
    }
  terminal_newline (pager->terminal);
  put_line (pager, STYLE_BOLD, "Press 1 to 5 to deny it, or Esc to go back to the card.");
  terminal_end_page (pager->terminal);
  for (;;)
    {
      TerminalEvent event = terminal_wait (pager->terminal, -1);

      if (event.kind == EVENT_CHAR && event.c >= '1' &&
          event.c < '1' + (int) G_N_ELEMENTS (reasons))
        return reasons[event.c - '1'].word;
      if (event.kind == EVENT_LEAVE)
        return NULL;
    }
}
