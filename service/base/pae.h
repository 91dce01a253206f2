/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is hashed, signed or sealed is never bare bytes: DSSE's pre-authentication encoding puts a
 * type in front, PAE(type, body) = "DSSEv1" SP len(type) SP type SP len(body) SP body, so that no
 * digest is valid under two meanings.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define PAE_DIGEST_SIZE 32

#define PAE_TYPE_RECORD "application/vnd.undersign.record.v1+json"
#define PAE_TYPE_STATEMENT "application/vnd.undersign.statement.v1+json"
#define PAE_TYPE_INTENT "application/vnd.undersign.intent.v1+json"
#define PAE_TYPE_POLICY "application/vnd.undersign.policy.v1+json"
#define PAE_TYPE_SEAL "application/vnd.undersign.seal.v1+json"
#define PAE_TYPE_ENROLMENT "application/vnd.undersign.enrolment.v1+json"
#define PAE_TYPE_AUDIT "application/vnd.undersign.audit.v1+json"
#define PAE_TYPE_CHECKPOINT "application/vnd.undersign.checkpoint.v1+json"
#define PAE_TYPE_OUTCOME "application/vnd.undersign.outcome.v1+json"
#define PAE_TYPE_KEY "application/vnd.undersign.key.v1+json"

GBytes *pae_encode (const char *type, GBytes *body);

/* pae_sha256: SHA-256 (PAE (@type, @body)). */
void pae_sha256 (const char *type, GBytes *body, guint8 out_digest[PAE_DIGEST_SIZE]);

/* pae_hmac: HMAC-SHA-256 (@key, PAE (@type, @body)). */
void pae_hmac (const guint8 *key,
               gsize key_len,
               const char *type,
               GBytes *body,
               guint8 out_tag[PAE_DIGEST_SIZE]);

/* digest_equal: constant time. */
gboolean digest_equal (const guint8 a[PAE_DIGEST_SIZE], const guint8 b[PAE_DIGEST_SIZE]);

/* digest_to_string: "sha256:" and 64 lower-case hex digits.  (transfer full) */
char *digest_to_string (const guint8 digest[PAE_DIGEST_SIZE]);

/* digest_from_string: the strict inverse; FALSE for any other spelling. */
gboolean digest_from_string (const char *text, guint8 out_digest[PAE_DIGEST_SIZE]);

G_END_DECLS
