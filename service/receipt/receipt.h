/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The receipt, undersign.receipt/1: what was asked, who signed what about it, and what the service
 * says became of it, in one file that can be verified without the service.  undersign-receipt(7) is
 * the specification.  The executor writes receipts; whoever has one reads it as a stranger's bytes.
 */
#pragma once

#include "service/base/signed.h"
#include "service/passkey/passkey.h"
#include "service/record/record.h"
#include "service/record/statement.h"

#include <glib.h>

G_BEGIN_DECLS

#define RECEIPT_FORMAT "undersign.receipt/1"
#define RECEIPT_MAX_BYTES (3 * 1024 * 1024)
#define RECEIPT_MAX_ITEMS 1000 /* answers, entries */
#define OUTCOME_FORMAT "undersign.outcome/1"

/* One person's answer. */
typedef struct
{
  GBytes *statement;
  Assertion assertion;
  Signer signer;         /* the passkey's public key, as the service has it enrolled */
  char *kind, *origin;   /* likewise; origin "" for a key held on the desktop */
  gboolean backup_eligible;
  gboolean used;         /* it is one of those that the request was executed by */
  Statement *decoded;    /* when read */
} ReceiptAnswer;

void receipt_answer_free (ReceiptAnswer *answer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ReceiptAnswer, receipt_answer_free)

/* Number and hash of an entry of the audit log. */
typedef struct
{
  guint64 seq;
  guint8 hash[PAE_DIGEST_SIZE];
} ReceiptLink;

/* What the executor signs. */
typedef struct
{
  char *host, *key, *ledger, *request;
  char *record; /* digest, "" where the service has none */
  char *state;  /* none, denied, withdrawn, expired, superseded, unreachable, refused, executing,
                 * done, failed or unknown */
  char *source; /* who says so; "" for none */
  char *by, *reason, *result, *successor; /* "" for none */
  char *time;
  guint64 seq; /* up to here the log went then */
  guint8 head[PAE_DIGEST_SIZE];
  GPtrArray *answers; /* (element-type utf8): digests of the statements */
  GArray *entries;    /* (element-type ReceiptLink) */
} ReceiptOutcome;

typedef struct
{
  GBytes *bytes;      /* of the whole, when read */
  GBytes *record;     /* empty where it was not kept */
  Record *decoded;    /* (nullable): when read */
  GPtrArray *answers; /* (element-type ReceiptAnswer) */
  GPtrArray *entries; /* (element-type GBytes) of the audit log, those of this request, in order */
  ReceiptOutcome outcome;
  Signer host;        /* whose signature the outcome has, when read */
} Receipt;

Receipt *receipt_new (void);
void receipt_free (Receipt *receipt);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Receipt, receipt_free)

/* --- receipt-write.c --- */

/* receipt_outcome_encode: the bytes that are signed, of type PAE_TYPE_OUTCOME. */
GBytes *receipt_outcome_encode (const ReceiptOutcome *outcome);
/* receipt_encode: @sealed is (transfer full): the outcome, signed. */
GBytes *receipt_encode (const Receipt *receipt, JsonTree *sealed);

/* --- receipt-read.c --- */

/*
 * receipt_decode: reads strictly; the outcome's signature is verified, everything else is not.
 * @bytes: untrusted; a line feed may end them
 * Returns: NULL with reason too-large, bad-json, bad-receipt, bad-signed, bad-key, signature,
 *   record-changed, bad-statement or those of record_decode().
 */
Receipt *receipt_decode (GBytes *bytes, GError **error);

/* --- receipt-verify.c --- */

typedef enum
{
  RECEIPT_PROVEN,  /* by a signature whose key the verifier was given */
  RECEIPT_CLAIMED, /* by a signature; whose key it is, the service says */
  RECEIPT_SAID,    /* by the service alone */
} ReceiptTrust;

typedef struct
{
  ReceiptTrust trust;
  char *who;  /* who says so, escaped */
  char *text; /* what, escaped */
} ReceiptLine;

typedef struct
{
  GPtrArray *lines; /* (element-type ReceiptLine) */
  gboolean proven;  /* the key of every signature was given */
} ReceiptReport;

void receipt_report_free (ReceiptReport *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ReceiptReport, receipt_report_free)

/*
 * receipt_verify: every check that can be made without the service.
 * @keys: (element-type utf8): ids of the keys that the verifier was given
 * Returns: NULL where one fails, with reason statement-changed, chain, bad-outcome or those of
 *   passkey_verify().
 */
ReceiptReport *receipt_verify (const Receipt *receipt, GPtrArray *keys, GError **error);

const char *receipt_trust_word (ReceiptTrust trust); /* "proven", "claimed", "said" */

/* --- receipt-text.c, receipt-html.c: for people --- */

/* (element-type utf8): lines without a line feed, escaped */
GPtrArray *receipt_to_text (const Receipt *receipt, const ReceiptReport *report);
/* A page of its own: no script, nothing that is loaded, every value escaped as on a card. */
char *receipt_to_html (const Receipt *receipt, const ReceiptReport *report);

G_END_DECLS
