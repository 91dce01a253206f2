/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bodies of hand-overs: the first byte chooses one of the types on the wire, the rest is the memfd.
 * What decodes is exactly what sending it again would put on the wire, and can be walked to its
 * end.
 */
#include "service/base/fd.h"
#include "service/base/handover.h"
#include "service/base/memfd.h"
#include "service/base/wire.h"
#include "tests/fuzz/refusal.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static const char *const types[] = {
  WIRE_REQUEST,         WIRE_PREPARE_REPLY,  WIRE_ANSWER,       WIRE_ANSWER_REPLY, WIRE_EXECUTE,
  WIRE_EXECUTE_OUTCOME, WIRE_CLOSE,          WIRE_EMPTY,        WIRE_QUERY,        WIRE_QUERY_REPLY,
  WIRE_APPROVER_QUERY,  WIRE_APPROVER_REPLY, WIRE_ENROL,        WIRE_ENROL_REPLY,  WIRE_REVOKE,
  WIRE_PASSKEYS_REPLY,  WIRE_HALT,           WIRE_RESOLVE,      WIRE_AUDIT,        WIRE_AUDIT_REPLY,
  WIRE_STATUS_REPLY,    WIRE_MODULE_CALL,    WIRE_MODULE_REPLY, WIRE_POLICY_REPLY,
  WIRE_MAY_PAUSE,       WIRE_MAY_PAUSE_REPLY, WIRE_RECEIPT,     WIRE_RECEIPT_REPLY,
  WIRE_CHECKPOINT_REPLY, WIRE_PRUNE,          WIRE_PRUNE_REPLY,
};

/* Touches every leaf; the depth is limited by the type, and by GLib for variants in it. */
static gsize
walk (GVariant *value)
{
  gsize n = 1;

  if (!g_variant_is_container (value))
    return n + g_variant_get_size (value);
  for (gsize i = 0; i < g_variant_n_children (value); i++)
    {
      g_autoptr (GVariant) child = g_variant_get_child_value (value, i);

      n += walk (child);
    }
  return n;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  const char *type = size > 0 ? types[data[0] % G_N_ELEMENTS (types)] : NULL;
  g_auto (Handover) handover = { .kind = HANDOVER_REPLY };
  g_autoptr (GVariant) normal = NULL;
  g_autoptr (GError) error = NULL;
  autofd fd = -1;
  gboolean ok = FALSE;

  if (size == 0)
    return 0;
  fd = memfd_new_sealed ("fuzz", data + 1, size - 1, NULL);
  g_assert (fd >= 0);

  ok = handover_decode (&handover, fd, type, &error);
  g_assert (ok == (error == NULL));
  refusal_seen (error);
  g_assert (ok == (handover.body != NULL));
  if (!ok)
    {
      g_assert (us_error_has_reason (error, US_REASON_BAD_MESSAGE));
      return 0;
    }

  normal = g_variant_get_normal_form (handover.body);
  g_assert (g_variant_get_size (normal) == size - 1);
  g_assert (size == 1 || memcmp (g_variant_get_data (normal), data + 1, size - 1) == 0);
  g_assert (walk (handover.body) > 0);
  return 0;
}
