/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The statement, undersign.statement/1: what a passkey signs.  It is made by the executor's rules
 * for one approver, one credential and one attempt; its challenge is the WebAuthn challenge.
 */
#pragma once

#include "service/base/pae.h"

#include <glib.h>

G_BEGIN_DECLS

#define STATEMENT_FORMAT "undersign.statement/1"
#define STATEMENT_MAX_BYTES 4096

/* All strings are owned by the statement and never NULL but where noted. */
typedef struct
{
  char *decision;      /* "approve" or "deny" */
  char *request;       /* request id */
  char *record;        /* "sha256:…" of the record */
  char *approver_name;
  guint32 approver_uid;
  char *credential;    /* base64url of the credential id */
  char *rp;            /* relying party id of the credential */
  char *seal;          /* base64url of the executor's seal */
  char *nonce;         /* base64url of 32 random bytes */
  char *issued;        /* RFC 3339 UTC, for display */
  char *expires;       /* likewise; the seal's deadline is what decides */
  char *supersedes_request; /* (nullable) */
  char *supersedes_digest;  /* (nullable) together with the request */
} Statement;

void statement_free (Statement *statement);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Statement, statement_free)

/* statement_encode: the canonical bytes; NULL with reason bad-statement for a malformed member. */
GBytes *statement_encode (const Statement *statement, GError **error);

/* statement_decode: strict, as record_decode(). */
Statement *statement_decode (GBytes *bytes, GError **error);

/* statement_challenge: SHA-256 (PAE (PAE_TYPE_STATEMENT, @bytes)). */
void statement_challenge (GBytes *bytes, guint8 out_challenge[PAE_DIGEST_SIZE]);

G_END_DECLS
