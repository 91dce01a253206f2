/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Most entries of an audit log are plain: details of a few ASCII texts and booleans, and nothing that
 * the log says of itself.  These are read here in one pass, without a tree.  Whatever is spelled otherwise, be it
 * right or wrong, is left to the strict reader: this one says yes or nothing.
 */
#include "service/base/chain-scan.h"

#include "service/base/chain.h"
#include "service/base/clock.h"
#include "service/base/encode.h"
#include "service/base/json-private.h"
#include "service/base/shape.h"

#include <string.h>

#define DIGEST_TEXT (sizeof "sha256:" - 1 + 2 * PAE_DIGEST_SIZE)
#define WORD_MAX (DIGEST_TEXT + 1) /* the longest member, and its end */

typedef struct
{
  const char *at, *end;
} Scan;

/* A text between quotes; borrowed, without an end. */
typedef struct
{
  const char *text;
  gsize len;
} Span;

static gboolean
scan_take (Scan *scan, const char *word)
{
  gsize len = strlen (word);

  if ((gsize) (scan->end - scan->at) < len || memcmp (scan->at, word, len) != 0)
    return FALSE;
  scan->at += len;
  return TRUE;
}

/* ASCII that needs no escape, and the closing quote. */
static gboolean
scan_text (Scan *scan, Span *out_span)
{
  const char *c = scan->at;

  while (c < scan->end && json_needs_escape[(guint8) *c] == 0 && (guint8) *c < 0x7f)
    c++;
  if (c == scan->end || *c != '"')
    return FALSE;
  *out_span = (Span){ scan->at, (gsize) (c - scan->at) };
  scan->at = c + 1;
  return TRUE;
}

/* A text of at most WORD_MAX - 1 bytes. */
static gboolean
scan_word (Scan *scan, char out_word[WORD_MAX])
{
  Span span;

  if (!scan_text (scan, &span) || span.len >= WORD_MAX)
    return FALSE;
  memcpy (out_word, span.text, span.len);
  out_word[span.len] = '\0';
  return TRUE;
}

static gboolean
span_is_before (const Span *a, const Span *b)
{
  int order = memcmp (a->text, b->text, MIN (a->len, b->len));

  return order < 0 || (order == 0 && a->len < b->len);
}

static gboolean
scan_value (Scan *scan)
{
  Span value;

  return scan_take (scan, "\"") ? scan_text (scan, &value)
                               : scan_take (scan, "true") || scan_take (scan, "false");
}

/* From after the opening brace to after the closing one, by names in order. */
static gboolean
scan_details (Scan *scan)
{
  Span last = { 0 };

  if (scan_take (scan, "}"))
    return TRUE;
  for (guint i = 0; i < CHAIN_DETAILS_MAX; i++)
    {
      Span name;

      if (!scan_take (scan, "\"") || !scan_text (scan, &name) ||
          (i > 0 && !span_is_before (&last, &name)) || !scan_take (scan, ":") || !scan_value (scan))
        return FALSE;
      if (scan_take (scan, "}"))
        return TRUE;
      if (!scan_take (scan, ","))
        return FALSE;
      last = name;
    }
  return FALSE;
}

gboolean
chain_scan (const char *text, gsize len, guint64 *out_seq, guint8 out_previous[PAE_DIGEST_SIZE])
{
  Scan scan = { text, text + len };
  char event[WORD_MAX], previous[WORD_MAX], seq[WORD_MAX], source[WORD_MAX], time[WORD_MAX];
  gint64 when = 0;

  return len <= CHAIN_ENTRY_MAX && scan_take (&scan, "{\"details\":{") && scan_details (&scan) &&
         scan_take (&scan, ",\"event\":\"") && scan_word (&scan, event) &&
         !chain_event_is_of_log (event) &&
         scan_take (&scan, ",\"format\":\"" CHAIN_FORMAT "\",\"previous\":\"") &&
         scan_word (&scan, previous) && digest_from_string (previous, out_previous) &&
         scan_take (&scan, ",\"seq\":\"") && scan_word (&scan, seq) &&
         shape_number (seq, out_seq) && scan_take (&scan, ",\"source\":\"") &&
         scan_word (&scan, source) && chain_source_is_known (source) &&
         scan_take (&scan, ",\"time\":\"") && scan_word (&scan, time) && clock_parse (time, &when) &&
         scan_take (&scan, "}") && scan.at == scan.end;
}
