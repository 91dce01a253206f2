/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The keys that a person answers with, whatever holds them: a file with a passphrase here, a
 * security key behind the same calls.  A key signs one thing: the challenge of a statement
 * (undersign.statement/1) that it was given whole and read itself.  No call takes a bare hash to
 * sign.
 */
#pragma once

#include "service/base/pae.h"
#include "service/base/secret.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  GBytes *credential; /* credential id */
  char *rp;           /* relying party id, "undersign:<host>" */
  char *label;        /* the person's word for it */
  char *place;        /* where it is kept, a word for display: "keyring" or "file" */
  char *key;          /* (nullable): the id of its public key, where that is known here */
  char *fault;        /* (nullable): why it cannot be read; then no rp and no key, no credential where
                         its name is none, and its name for a label */
} KeyInfo;

void key_info_free (KeyInfo *info);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KeyInfo, key_info_free)

typedef struct
{
  const char *rp;
  const char *label;
  const char *user; /* the person's name */
  GBytes *user_id;  /* (nullable): the handle that a security key knows the person by */
  guint8 challenge[PAE_DIGEST_SIZE]; /* named in the client data */
  GPtrArray *exclude;                /* (element-type GBytes): ids that the person has already */
} KeyEnrolment;

typedef struct
{
  GBytes *credential;
  GBytes *client_data; /* clientDataJSON */
  GBytes *attestation; /* attestationObject */
  char *key;           /* the id of the public key, as the key itself has it */
} KeyRegistration;

void key_registration_clear (KeyRegistration *registration);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (KeyRegistration, key_registration_clear)

typedef struct
{
  GBytes *client_data; /* clientDataJSON */
  GBytes *auth_data;   /* authenticatorData, 37 bytes */
  GBytes *signature;
} KeyAssertion;

void key_assertion_clear (KeyAssertion *assertion);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (KeyAssertion, key_assertion_clear)

/* What is asked for. */
typedef enum
{
  KEY_PROMPT_CHOOSE,    /* a new passphrase, for a key that is being made */
  KEY_PROMPT_UNLOCK,    /* its passphrase */
  KEY_PROMPT_PIN,       /* of a security key */
  KEY_PROMPT_PIN_AGAIN, /* the one before was wrong */
} KeyPrompt;

/*
 * KeyAsk: asks the person for the passphrase or PIN of @info, each time anew.
 * @tries: how often a PIN may still be wrong; -1 for a passphrase
 * Returns: (transfer full) (nullable): NULL with an error where none was given: no answer.
 */
typedef Secret *(*KeyAsk) (
    KeyPrompt prompt, const KeyInfo *info, int tries, gpointer data, GError **error);

typedef struct Key Key;

/* key_kind: a word of the enrolment: "software", "hardware" or "unattested".  Borrowed. */
const char *key_kind (const Key *key);

/* key_list: (element-type KeyInfo) (transfer full): what is kept on this computer, also what cannot be
 * read; NULL where nobody can tell what that is. */
GPtrArray *key_list (Key *key, GError **error);

/*
 * key_pick: which of @credentials can sign now, the first; nobody is asked for anything.
 * @credentials: (element-type GBytes): credential ids of relying party @rp
 * Returns: FALSE with reason credential-unknown or key-store; key-absent or key-failed of a
 *   security key.
 */
gboolean
key_pick (Key *key, GPtrArray *credentials, const char *rp, guint *out_index, GError **error);

/*
 * key_enrol: makes a key and keeps it, before anyone is told of it.
 * Returns: FALSE with reason credential-exists where one of @enrolment's exclude list is held here,
 *   bad-value, no-answer; passphrase or key-store; of a security key those of key_sign(),
 *   key-several, and attestation-chain.
 */
gboolean key_enrol (Key *key,
                    const KeyEnrolment *enrolment,
                    KeyRegistration *out_registration,
                    GError **error);

/*
 * key_sign:
 * @credential: held here
 * @statement: the bytes of a statement that names @credential and its relying party
 *
 * Returns: FALSE with reason bad-statement or no-answer; credential-unknown, passphrase or
 * key-store; of a security key key-absent, key-unfit, key-unverified, key-blocked, key-timeout or
 * key-failed.  The counter is stored before anything is signed.
 */
gboolean key_sign (
    Key *key, GBytes *credential, GBytes *statement, KeyAssertion *out_assertion, GError **error);

/* key_forget: removes a key for good, wherever it is kept, also one that cannot be read; reason
 * credential-unknown or key-store. */
gboolean key_forget (Key *key, GBytes *credential, GError **error);

void key_free (Key *key);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Key, key_free)

/* --- for those who hold keys --- */

typedef struct
{
  const char *kind;
  GPtrArray *(*list) (Key *key, GError **error);
  gboolean (*pick) (
      Key *key, GPtrArray *credentials, const char *rp, guint *out_index, GError **error);
  gboolean (*enrol) (Key *key,
                     const KeyEnrolment *enrolment,
                     KeyRegistration *out_registration,
                     GError **error);
  /* @challenge is of a statement that key_sign() has read and found to be about @credential and
   * @rp. */
  gboolean (*sign) (Key *key,
                    GBytes *credential,
                    const char *rp,
                    const guint8 challenge[PAE_DIGEST_SIZE],
                    KeyAssertion *out_assertion,
                    GError **error);
  gboolean (*forget) (Key *key, GBytes *credential, GError **error);
  void (*free) (Key *key);
} KeyClass;

struct Key
{
  const KeyClass *klass;
};

G_END_DECLS
