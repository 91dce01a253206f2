/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of a Card, for the files of this folder. */
#pragma once

#include "module/card/model/card.h"

#define CARD_ROW_SECTIONS (ROW_CLAIM + 1)

struct Card
{
  char *request;
  Record *record;
  char *fingerprint;
  Record *superseded;       /* (nullable) */
  char *superseded_request; /* (nullable): its id */
  Rows *rows;
  GPtrArray *sections[CARD_ROW_SECTIONS]; /* borrowed rows */
  GPtrArray *warnings;
  char *deny_only; /* (nullable) */

  char *state;
  char *expires;
  guint64 deadline;
  gboolean answered, again;
  guint counted, needed, attempts;
  char *refused; /* (nullable) */
  GPtrArray *credentials;
  GPtrArray *history;
};

/* card_details_read: the members of @details into @card; reason bad-message. */
gboolean card_details_read (Card *card, GVariant *details, GError **error);
