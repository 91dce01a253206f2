/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A public key as a file, undersign.key/1, and its id: what a verifier is given by another way than
 * the thing that it verifies.  undersign-receipt(7) is the specification.
 */
#pragma once

#include "service/base/json.h"
#include "service/base/pae.h"

#include <glib.h>

G_BEGIN_DECLS

#define SIGNER_FORMAT "undersign.key/1"
#define SIGNER_ES256 "ES256"
#define SIGNER_EDDSA "EdDSA"

typedef struct
{
  const char *algorithm; /* one of the two above */
  GBytes *public_key;    /* ES256: x || y, 64 bytes; EdDSA: 32 bytes */
} Signer;

void signer_clear (Signer *signer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Signer, signer_clear)

JsonTree *signer_tree (const Signer *signer);
/* signer_id: the digest of its canonical bytes. */
void signer_id (const Signer *signer, guint8 out_id[PAE_DIGEST_SIZE]);
char *signer_id_text (const Signer *signer); /* "sha256:…" */

/* signer_read: FALSE with reason bad-key; whether the bytes are a point of the curve is left to who
 * verifies with it. */
gboolean signer_read (const JsonTree *tree, Signer *out_signer, GError **error);
/* signer_parse: of a file; a line feed may end it. */
gboolean signer_parse (GBytes *bytes, Signer *out_signer, GError **error);

G_END_DECLS
