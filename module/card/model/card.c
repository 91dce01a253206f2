/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes a card from what GetCard() gave.  Called by each renderer once for each look; a renderer
 * shows what this says, in this order, and decides nothing itself.  Must never show a record whose
 * digest it did not work out itself, nor keep quiet about why a card can only be denied.
 */
#include "module/card/model/card-private.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"

#include <string.h>

static gboolean
check_digest (const Card *card, GVariant *details, GError **error)
{
  const char *text = NULL;
  guint8 digest[PAE_DIGEST_SIZE];

  if (!g_variant_lookup (details, "digest", "&s", &text) || !digest_from_string (text, digest))
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                         "the service's card has no valid \"digest\"");
  if (!digest_equal (digest, record_digest (card->record)))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_RECORD_CHANGED,
                         "the record is not the one of the digest that the service gave");
  return TRUE;
}

static void
sort_rows (Card *card)
{
  for (guint i = 0; i < CARD_ROW_SECTIONS; i++)
    card->sections[i] = g_ptr_array_new ();
  for (guint i = 0; i < card->rows->rows->len; i++)
    {
      Row *row = g_ptr_array_index (card->rows->rows, i);

      g_assert ((guint) row->section < CARD_ROW_SECTIONS);
      g_ptr_array_add (card->sections[row->section], row);
    }
}

static char *
find_bar (const Card *card, const char *host)
{
  if (card->rows->deny_only != NULL)
    return g_strdup (card->rows->deny_only);
  if (strcmp (record_host (card->record), host) != 0)
    return g_strdup ("the record is of another machine");
  if (strcmp (card->state, "pending") != 0)
    return g_strdup_printf ("the request is no longer pending: %s", card->state);
  if (card->answered)
    return g_strdup ("your approval has been counted");
  if (card->attempts == 0)
    return g_strdup ("no attempts to sign are left");
  return NULL;
}

static void
warn (Card *card, char *text)
{
  g_ptr_array_add (card->warnings, text);
}

static void
find_warnings (Card *card)
{
  card->warnings = g_ptr_array_new_with_free_func (g_free);
  if (card->deny_only != NULL)
    warn (card, g_strdup_printf ("This card can only be denied: %s.", card->deny_only));
  if (card->refused != NULL)
    warn (card, g_strdup_printf ("An earlier approval was not used: %s.", card->refused));
  if (card->superseded != NULL)
    warn (card, g_strdup ("This replaces an earlier request; what changed is shown below."));
  if (card->again)
    warn (card, g_strdup ("The service was restarted: what was signed before is void."));
  for (guint i = 0; i < card->rows->rows->len; i++)
    {
      const Row *row = g_ptr_array_index (card->rows->rows, i);

      if (row->notes->len > 0 && row->section != ROW_CLAIM)
        {
          warn (card, g_strdup ("Some values need a second look; each says why."));
          break;
        }
    }
}

Card *
card_new (const char *request, GBytes *bytes, GVariant *details, const char *host, GError **error)
{
  g_autoptr (Card) card = g_new0 (Card, 1);

  g_return_val_if_fail (id_is_valid (request), NULL);
  card->request = g_strdup (request);
  card->record = record_decode (bytes, error);
  if (card->record == NULL || !check_digest (card, details, error) ||
      !card_details_read (card, details, error))
    return NULL;

  card->fingerprint = record_fingerprint (card->record);
  card->rows = rows_new (card->record, card->superseded);
  sort_rows (card);
  card->deny_only = find_bar (card, host);
  find_warnings (card);
  return g_steal_pointer (&card);
}

void
card_free (Card *card)
{
  if (card == NULL)
    return;
  for (guint i = 0; i < CARD_ROW_SECTIONS; i++)
    g_clear_pointer (&card->sections[i], g_ptr_array_unref);
  g_clear_pointer (&card->rows, rows_free);
  g_clear_pointer (&card->record, record_unref);
  g_clear_pointer (&card->superseded, record_unref);
  g_clear_pointer (&card->warnings, g_ptr_array_unref);
  g_clear_pointer (&card->credentials, g_ptr_array_unref);
  g_clear_pointer (&card->history, g_ptr_array_unref);
  g_free (card->request);
  g_free (card->fingerprint);
  g_free (card->superseded_request);
  g_free (card->deny_only);
  g_free (card->state);
  g_free (card->expires);
  g_free (card->refused);
  g_free (card);
}

const char *
card_request (const Card *card)
{
  return card->request;
}

const Record *
card_record (const Card *card)
{
  return card->record;
}

const char *
card_fingerprint (const Card *card)
{
  return card->fingerprint;
}

GPtrArray *
card_rows (const Card *card, RowSection section)
{
  g_assert ((guint) section < CARD_ROW_SECTIONS);
  return card->sections[section];
}

const char *
card_section_title (RowSection section)
{
  switch (section)
    {
    case ROW_SUMMARY:
      return "Action";
    case ROW_CHANGE:
      return "Changed since the request before";
    case ROW_ARGUMENT:
      return "Arguments";
    case ROW_FACT:
      return "Facts, found by the service";
    case ROW_SETTING:
      return "Carried out with";
    case ROW_CLAIM:
      return "The agent says, unverified";
    default:
      return "Other";
    }
}

GPtrArray *
card_warnings (const Card *card)
{
  return card->warnings;
}

const char *
card_deny_only (const Card *card)
{
  return card->deny_only;
}

const char *
card_state (const Card *card)
{
  return card->state;
}

const char *
card_expires (const Card *card)
{
  return card->expires;
}

guint64
card_seconds_left (const Card *card, guint64 boottime)
{
  return boottime < card->deadline ? (card->deadline - boottime) / G_USEC_PER_SEC : 0;
}

void
card_answers (const Card *card, guint *out_counted, guint *out_needed)
{
  *out_counted = card->counted;
  *out_needed = card->needed;
}

guint
card_attempts (const Card *card)
{
  return card->attempts;
}

GPtrArray *
card_history (const Card *card)
{
  return card->history;
}

GPtrArray *
card_credentials (const Card *card)
{
  return card->credentials;
}

gboolean
card_same (const Card *a, const Card *b)
{
  return strcmp (a->request, b->request) == 0 &&
         digest_equal (record_digest (a->record), record_digest (b->record)) &&
         g_strcmp0 (a->superseded_request, b->superseded_request) == 0 &&
         g_strcmp0 (a->deny_only, b->deny_only) == 0 && g_strcmp0 (a->refused, b->refused) == 0 &&
         a->again == b->again && a->counted == b->counted && a->needed == b->needed;
}
