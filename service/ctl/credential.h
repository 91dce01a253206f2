/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Giving a module its credential: for setup, which asks for an account. */
#pragma once

#include "service/ctl/ctl.h"

G_BEGIN_DECLS

/*
 * credential_account: asks for a password on the terminal, and gives @module the credential @name of
 * two lines, @user and the password.
 */
gboolean credential_account (
    Ctl *ctl, const char *module, const char *name, const char *user, GError **error);

G_END_DECLS
