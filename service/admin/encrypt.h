/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Encrypts a secret with systemd-creds(1), for LoadCredentialEncrypted= of one name. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ENCRYPT_MAX 4 /* at a time */

typedef struct
{
  const char *program; /* systemd-creds */
  const char *name;    /* the credential's, which is bound into the result */
  const char *file;    /* for which it is: the last one that is begun for a file is the one that counts */
  int secret;          /* a descriptor of a file that nobody can change, read from where it stands */
  guint seconds;       /* in which it has to end */
} EncryptOrder;

/* Called once: @encrypted, borrowed; NULL with @error, borrowed, US_ERROR_UNAVAILABLE, or
 * US_ERROR_WRONG_STATE, reason too-late, where it was given up for a later one. */
typedef void (*EncryptDone) (GBytes *encrypted, const GError *error, gpointer data);

/*
 * encrypt_begin: does not wait, and never calls @done before it returns.  The secret is the program's
 * standard input: never in an argument, the environment, another file or a log.
 *
 * Returns: FALSE with reason limit where ENCRYPT_MAX are under way, or with reason internal.
 */
gboolean
encrypt_begin (const EncryptOrder *order, EncryptDone done, gpointer data, GError **error);

/* encrypt_give_up: what is under way for @file does not come to its end any more.  Returns: whether
 * anything was. */
gboolean encrypt_give_up (const char *file);

/* encrypt_end_all: none of them comes to its end any more. */
void encrypt_end_all (void);

G_END_DECLS
