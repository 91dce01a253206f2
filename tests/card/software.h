/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The software passkey and the checks of the executor: what tests of it share. */
#pragma once

#include "module/card/key/key.h"
#include "service/passkey/passkey.h"

G_BEGIN_DECLS

#define TEST_KEY_RP "undersign:0123456789abcdef0123456789abcdef"

/*
 * test_key_enrol: makes a key, which the executor's checks take.
 * @exclude: (nullable): as in KeyEnrolment
 *
 * Returns: (transfer full) (nullable): NULL with the error of key_enrol()
 */
Passkey *test_key_enrol (Key *key, GPtrArray *exclude, GError **error);

/* test_key_statement: one that is about @passkey and @rp. */
GBytes *test_key_statement (const Passkey *passkey, const char *rp);

/*
 * test_key_sign: signs, and has the executor's checks judge it; the counter of @passkey moves.
 *
 * Returns: the counter, or 0 with the error of key_sign(), and then no signature was given.
 */
guint32 test_key_sign (Key *key, Passkey *passkey, GError **error);

G_END_DECLS
