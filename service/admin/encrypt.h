/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Encrypts a secret with systemd-creds(1), for LoadCredentialEncrypted= of one name. */
#pragma once

#include "service/base/secret.h"

G_BEGIN_DECLS

/*
 * encrypt_credential:
 * @program: systemd-creds
 * @name: the credential's name, which is bound into the result
 *
 * The secret goes through a pipe: never into an argument, the environment, a file or a log.
 * Returns: (transfer full): the encrypted text, or NULL with US_ERROR_UNAVAILABLE, reason internal.
 */
GBytes *encrypt_credential (const char *program, const char *name, Secret *secret, GError **error);

G_END_DECLS
