/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Something that the executor's host key has signed, undersign.signed/1: the bytes as a string,
 * their type, the public key and the signature.  undersign-receipt(7) is the specification.
 */
#pragma once

#include "service/base/signer.h"

#include <glib.h>

G_BEGIN_DECLS

#define SIGNED_FORMAT "undersign.signed/1"

typedef struct
{
  GBytes *body;
  Signer signer;
  GBytes *signature;
} Signed;

void signed_clear (Signed *sealed);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Signed, signed_clear)

/* signed_tree: @type is a PAE type. */
JsonTree *signed_tree (const Signed *sealed, const char *type);

/*
 * signed_read: reads and verifies.
 * @type: what it must be
 * Returns: FALSE with reason bad-key, bad-signed or signature.  Whose key it is remains open.
 */
gboolean
signed_read (const JsonTree *tree, const char *type, Signed *out_signed, GError **error);

G_END_DECLS
