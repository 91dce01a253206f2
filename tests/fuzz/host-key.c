/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/fuzz/host-key.h"

#include "service/base/ed25519.h"
#include "service/base/signed.h"

static const guint8 seed[ED25519_SEED_SIZE] = "undersign fuzz target: host key.";

Secret *
host_key (void)
{
  return secret_new_from (seed, sizeof seed);
}

GBytes *
host_key_sign (GBytes *body)
{
  g_autoptr (Secret) secret = host_key ();
  guint8 public[ED25519_PUBLIC_SIZE], signature[ED25519_SIGNATURE_SIZE];
  g_auto (Signed) sealed = { .body = g_bytes_ref (body), .signer = { .algorithm = SIGNER_EDDSA } };
  g_autoptr (JsonTree) tree = NULL;

  g_assert (ed25519_public (secret, public, NULL));
  g_assert (ed25519_sign (secret, PAE_TYPE_CHECKPOINT, body, signature, NULL));
  sealed.signer.public_key = g_bytes_new (public, sizeof public);
  sealed.signature = g_bytes_new (signature, sizeof signature);
  tree = signed_tree (&sealed, PAE_TYPE_CHECKPOINT);
  return json_tree_write (tree);
}
