/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads what the service says beside the record.  Called by card.c.  A member of another type than
 * documented is an error; text that is shown is escaped here, once.  The record itself is never
 * taken from here.
 */
#include "module/card/model/card-private.h"

#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/encode.h"

#include <string.h>

#define CREDENTIAL_MAX 1023

static void
credential_free (CardCredential *credential)
{
  g_bytes_unref (credential->id);
  g_free (credential->kind);
  g_free (credential->rp);
  g_free (credential->origin);
  g_free (credential->label);
  g_free (credential);
}

static void
history_free (CardHistory *history)
{
  g_free (history->summary);
  g_free (history->state);
  g_free (history);
}

static gboolean
bad_details (GError **error, const char *name)
{
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                       "the service's card has no valid \"%s\"", name);
}

static char *
dup_string (GVariant *details, const char *name)
{
  g_autoptr (GVariant) value = g_variant_lookup_value (details, name, G_VARIANT_TYPE_STRING);

  return value != NULL ? g_variant_dup_string (value, NULL) : NULL;
}

static gboolean
has (GVariant *details, const char *name)
{
  g_autoptr (GVariant) value = g_variant_lookup_value (details, name, NULL);

  return value != NULL;
}

static gboolean
read_numbers (Card *card, GVariant *details, GError **error)
{
  if (!g_variant_lookup (details, "deadline", "t", &card->deadline))
    return bad_details (error, "deadline");
  if (!g_variant_lookup (details, "answers", "u", &card->counted))
    return bad_details (error, "answers");
  if (!g_variant_lookup (details, "needed", "u", &card->needed))
    return bad_details (error, "needed");
  if (!g_variant_lookup (details, "attempts", "u", &card->attempts))
    return bad_details (error, "attempts");
  if (!g_variant_lookup (details, "answered", "b", &card->answered))
    return bad_details (error, "answered");
  if (!g_variant_lookup (details, "again", "b", &card->again))
    return bad_details (error, "again");
  return TRUE;
}

static gboolean
read_texts (Card *card, GVariant *details, GError **error)
{
  g_autofree char *state = dup_string (details, "state");
  g_autofree char *refused = dup_string (details, "refused");
  gint64 wall = 0;

  card->expires = dup_string (details, "expires");
  if (state == NULL)
    return bad_details (error, "state");
  if (card->expires == NULL || !clock_parse (card->expires, &wall))
    return bad_details (error, "expires");
  if (refused == NULL && has (details, "refused"))
    return bad_details (error, "refused");

  card->state = escape_line (state);
  card->refused = refused != NULL ? escape_line (refused) : NULL;
  return TRUE;
}

static gboolean
read_credentials (Card *card, GVariant *details, GError **error)
{
  g_autoptr (GVariant) list =
      g_variant_lookup_value (details, "credentials", G_VARIANT_TYPE ("a(ayssss)"));
  GVariantIter iter;
  GVariant *id = NULL;
  const char *kind, *rp, *origin, *label;

  if (list == NULL)
    return bad_details (error, "credentials");
  g_variant_iter_init (&iter, list);
  while (g_variant_iter_loop (&iter, "(@ay&s&s&s&s)", &id, &kind, &rp, &origin, &label))
    {
      CardCredential *credential = g_new0 (CardCredential, 1);
      gsize len;
      const void *data = g_variant_get_fixed_array (id, &len, 1);

      credential->id = g_bytes_new (data, MIN (len, CREDENTIAL_MAX + 1));
      credential->kind = g_strdup (kind);
      credential->rp = g_strdup (rp);
      credential->origin = g_strdup (origin);
      credential->label = g_strdup (label);
      g_ptr_array_add (card->credentials, credential);
    }
  return TRUE;
}

static gboolean
read_history (Card *card, GVariant *details, GError **error)
{
  g_autoptr (GVariant) list = g_variant_lookup_value (details, "history", G_VARIANT_TYPE ("a(ss)"));
  GVariantIter iter;
  const char *summary, *state;

  if (list == NULL)
    return bad_details (error, "history");
  g_variant_iter_init (&iter, list);
  while (g_variant_iter_loop (&iter, "(&s&s)", &summary, &state))
    {
      CardHistory *history = g_new0 (CardHistory, 1);

      history->summary = escape_line (summary);
      history->state = escape_line (state);
      g_ptr_array_add (card->history, history);
    }
  return TRUE;
}

/* The two come together or not at all; the record is decoded as strictly as the card's own. */
static gboolean
read_superseded (Card *card, GVariant *details, GError **error)
{
  g_autoptr (GVariant) path =
      g_variant_lookup_value (details, "supersedes", G_VARIANT_TYPE_OBJECT_PATH);
  g_autoptr (GVariant) bytes =
      g_variant_lookup_value (details, "superseded", G_VARIANT_TYPE_BYTESTRING);
  g_autoptr (GBytes) data = NULL;

  if (path == NULL && bytes == NULL)
    return (!has (details, "supersedes") && !has (details, "superseded")) ||
           bad_details (error, "supersedes");
  if (path == NULL || bytes == NULL ||
      !g_str_has_prefix (g_variant_get_string (path, NULL), US_REQUEST_PATH_PREFIX))
    return bad_details (error, "supersedes");

  card->superseded_request =
      g_strdup (g_variant_get_string (path, NULL) + strlen (US_REQUEST_PATH_PREFIX));
  if (!id_is_valid (card->superseded_request))
    return bad_details (error, "supersedes");
  data = g_variant_get_data_as_bytes (bytes);
  card->superseded = record_decode (data, error);
  return card->superseded != NULL;
}

gboolean
card_details_read (Card *card, GVariant *details, GError **error)
{
  card->credentials = g_ptr_array_new_with_free_func ((GDestroyNotify) credential_free);
  card->history = g_ptr_array_new_with_free_func ((GDestroyNotify) history_free);
  return read_numbers (card, details, error) && read_texts (card, details, error) &&
         read_credentials (card, details, error) && read_history (card, details, error) &&
         read_superseded (card, details, error);
}
