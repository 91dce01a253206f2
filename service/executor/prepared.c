/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Nothing that comes back from the broker is believed.  The seal proves that this executor, in this
 * boot, prepared just this record for just this request with just this deadline; rebuilding proves
 * that what would be run is what the record says.  From there on only the rebuilt record is used.
 */
#include "service/executor/prepared.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/wire.h"

#include <string.h>

GBytes *
bytes_of (GVariant *array)
{
  return g_variant_get_data_as_bytes (array);
}

GVariant *
variant_of_bytes (GBytes *bytes)
{
  return g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, bytes, TRUE);
}

GVariant *
variant_of_digest (const guint8 digest[PAE_DIGEST_SIZE])
{
  return g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, digest, PAE_DIGEST_SIZE, 1);
}

void
sealed_clear (Sealed *sealed)
{
  g_clear_pointer (&sealed->request, g_free);
  g_clear_pointer (&sealed->supersedes, g_free);
  g_clear_pointer (&sealed->supersedes_digest, g_free);
}

void
prepared_free (Prepared *prepared)
{
  if (prepared == NULL)
    return;
  sealed_clear (&prepared->sealed);
  proposal_free (prepared->proposal);
  g_clear_pointer (&prepared->record, record_unref);
  g_free (prepared);
}

static gboolean
seal_check (Session *session,
            const char *request,
            GBytes *record,
            guint64 deadline,
            GBytes *seal,
            guint8 out_seal[PAE_DIGEST_SIZE],
            GError **error)
{
  guint8 digest[PAE_DIGEST_SIZE];

  if (!request_id_check (request, error))
    return FALSE;
  pae_sha256 (PAE_TYPE_RECORD, record, digest);
  if (!ledger_seal (session->executor->ledger, request, digest, deadline, out_seal, error))
    return FALSE;
  if (g_bytes_get_size (seal) != PAE_DIGEST_SIZE ||
      !digest_equal (g_bytes_get_data (seal, NULL), out_seal))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_SEAL,
                         "this was not prepared by this executor in this boot");
  return TRUE;
}

static gboolean
deadline_check (guint64 deadline, GError **error)
{
  if (clock_boottime () >= deadline)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_DEADLINE_PASSED,
                         "the request has expired");
  return TRUE;
}

gboolean
sealed_open (Session *session, GVariant *body, Sealed *out_sealed, GError **error)
{
  g_auto (Sealed) sealed = { 0 };
  g_autoptr (GVariant) request = g_variant_get_child_value (body, 0);
  g_autoptr (GVariant) record_array = g_variant_get_child_value (body, 2);
  g_autoptr (GVariant) seal_array = g_variant_get_child_value (body, 4);
  g_autoptr (GBytes) record = bytes_of (record_array);
  g_autoptr (GBytes) seal = bytes_of (seal_array);
  guint64 deadline = 0;

  g_variant_get_child (request, 0, "s", &sealed.request);
  g_variant_get_child (request, 7, "(ss)", &sealed.supersedes, &sealed.supersedes_digest);
  g_variant_get_child (body, 3, "t", &deadline);
  if (!seal_check (session, sealed.request, record, deadline, seal, sealed.seal, error))
    return FALSE;
  if (*sealed.supersedes == '\0')
    {
      g_clear_pointer (&sealed.supersedes, g_free);
      g_clear_pointer (&sealed.supersedes_digest, g_free);
    }
  pae_sha256 (PAE_TYPE_RECORD, record, sealed.record);
  *out_sealed = sealed;
  sealed = (Sealed){ 0 };
  return TRUE;
}

Prepared *
prepared_open (Session *session, GVariant *body, GError **error)
{
  g_autoptr (Prepared) prepared = g_new0 (Prepared, 1);
  g_autoptr (GVariant) request = NULL;
  g_autoptr (GVariant) facts = NULL;
  g_autoptr (GVariant) record_array = NULL;
  g_autoptr (GBytes) record = NULL;

  g_variant_get (body, "(@" WIRE_REQUEST "@" WIRE_FACTS "@ayt@ay)", &request, &facts, &record_array,
                 &prepared->deadline, NULL);
  record = bytes_of (record_array);

  if (!sealed_open (session, body, &prepared->sealed, error) ||
      !deadline_check (prepared->deadline, error))
    return NULL;
  prepared->proposal =
      proposal_new (session->executor, request, session->fds, session->n_fds, error);
  if (prepared->proposal == NULL)
    return NULL;
  prepared->record = proposal_record (session->executor, prepared->proposal, facts, error);
  if (prepared->record == NULL)
    return NULL;
  if (!g_bytes_equal (record_bytes (prepared->record), record))
    {
      us_error_set (error, US_ERROR_REFUSED, US_REASON_RECORD_CHANGED,
                    "rebuilt now, this is another action than the one that was prepared");
      return NULL;
    }
  return g_steal_pointer (&prepared);
}
