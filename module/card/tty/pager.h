/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One card on one terminal: page by page to its end, then one line in which the person types the
 * fingerprint.  Nothing else approves, and until the card is armed no key of that line counts.
 */
#pragma once

#include "module/card/model/card.h"
#include "module/card/tty/terminal.h"

#include <glib.h>

G_BEGIN_DECLS

/* The smallest window that a card is shown in. */
#define PAGER_MIN_COLUMNS 40
#define PAGER_MIN_ROWS 12

typedef struct Pager Pager;

typedef enum
{
  PAGER_LEFT,    /* no answer */
  PAGER_WRONG,   /* something else was typed: no answer */
  PAGER_APPROVE, /* the fingerprint, on an armed card */
  PAGER_DENY,
  PAGER_WOKEN, /* terminal_wake(): look, and call pager_run() again */
} PagerResult;

Pager *pager_new (Terminal *terminal);
void pager_free (Pager *pager);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Pager, pager_free)

/*
 * pager_show: a card that nobody has read: its first page.
 * @card: borrowed until the next call
 * @bar: (nullable): why it can't be approved here
 * @notice: (nullable): a word above it, e.g. that it changed
 */
void pager_show (Pager *pager, const Card *card, const char *bar, const char *notice);

PagerResult pager_run (Pager *pager);

/* pager_ask_reason: why it is denied: a word of the interface, or NULL: back to the card. */
const char *pager_ask_reason (Pager *pager);

/* pager_begin: an empty page with a title, for what follows the card. */
void pager_begin (Pager *pager, const char *title);

G_END_DECLS
