/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a renderer signs is what it shows: the statement of the service is read and every member
 * compared with the card, before a key is asked.  The seal and the nonce mean nothing here; the
 * executor checks them.  Must never let a member pass that it does not know.
 */
#include "module/card/model/card-private.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/encode.h"
#include "service/record/statement.h"

#include <string.h>

static gboolean
same (const char *said, const char *expected, const char *what, GError **error)
{
  g_autofree char *shown = NULL;

  if (g_strcmp0 (said, expected) == 0)
    return TRUE;
  shown = said != NULL ? escape_line (said) : NULL;
  return us_error_set (error, US_ERROR_REFUSED, US_REASON_STATEMENT_CHANGED,
                       "the statement to sign names the %s \"%s\", not \"%s\"", what,
                       shown != NULL ? shown : "", expected != NULL ? expected : "");
}

static gboolean
check_request (const Card *card, const Statement *statement, GError **error)
{
  g_autofree char *record = digest_to_string (record_digest (card->record));
  g_autofree char *superseded =
      card->superseded != NULL ? digest_to_string (record_digest (card->superseded)) : NULL;

  return same (statement->request, card->request, "request", error) &&
         same (statement->record, record, "record", error) &&
         same (statement->supersedes_request, card->superseded_request, "replaced request",
               error) &&
         same (statement->supersedes_digest, superseded, "replaced record", error);
}

static gboolean
check_person (const Statement *statement,
              const CardCredential *credential,
              const char *user,
              guint32 uid,
              GError **error)
{
  gsize len;
  const guint8 *data = g_bytes_get_data (credential->id, &len);
  g_autofree char *id = base64url_encode (data, len);

  if (statement->approver_uid != uid)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_STATEMENT_CHANGED,
                         "the statement to sign names the approver's uid %u, not %u",
                         statement->approver_uid, uid);
  return same (statement->approver_name, user, "approver", error) &&
         same (statement->credential, id, "passkey", error) &&
         same (statement->rp, credential->rp, "relying party", error);
}

static gboolean
check_time (
    const Card *card, const Statement *statement, gint64 wall, guint64 boottime, GError **error)
{
  gint64 issued = 0, expires = 0;

  if (!clock_parse (statement->issued, &issued) || !clock_parse (statement->expires, &expires) ||
      issued > expires)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_STATEMENT,
                         "the statement to sign has no valid times");
  if (expires <= wall || card_seconds_left (card, boottime) == 0)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_DEADLINE_PASSED,
                         "the request expired at %s", statement->expires);
  return TRUE;
}

gboolean
card_check_statement (const Card *card,
                      GBytes *bytes,
                      const char *decision,
                      const CardCredential *credential,
                      const char *user,
                      guint32 uid,
                      gint64 wall,
                      guint64 boottime,
                      GError **error)
{
  g_autoptr (Statement) statement = statement_decode (bytes, error);

  return statement != NULL && same (statement->decision, decision, "decision", error) &&
         check_request (card, statement, error) &&
         check_person (statement, credential, user, uid, error) &&
         check_time (card, statement, wall, boottime, error);
}
