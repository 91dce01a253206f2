/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What stands behind the us_sm_handle that a module gets. */
#pragma once

#include "service/abi/undersign-module.h"
#include "service/base/handover.h"
#include "service/base/secret.h"

#include <glib.h>

G_BEGIN_DECLS

#define HANDLE_MAX_RESULT 1000 /* bytes */

/*
 * handle_new:
 * @handover: a decoded WIRE_MODULE_CALL; must outlive the handle, which borrows its files
 *
 * Checks every name, type and value once more: what a module is given is what the types promise.
 * Returns: (transfer full) (nullable): NULL with reason bad-message or those of type_check().
 */
us_sm_handle *handle_new (const Handover *handover, GError **error);
void handle_free (us_sm_handle *handle);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (us_sm_handle, handle_free)

/* handle_credential_name: "" for none. */
const char *handle_credential_name (const us_sm_handle *handle);
/* handle_take_credential: @credential is (transfer full). */
void handle_take_credential (us_sm_handle *handle, Secret *credential);

/*
 * handle_reply: the WIRE_MODULE_REPLY.
 * @code: what the entry point returned
 * @with_facts: whether every declared fact is expected: a done without one of them is no done
 */
GVariant *handle_reply (us_sm_handle *handle, int code, gboolean with_facts);

G_END_DECLS
