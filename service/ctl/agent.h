/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* polkit's agent for a terminal, for those who have no desktop that brings one. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct PolkitTty PolkitTty;

/*
 * polkit_tty_new: starts pkttyagent(1) where it can be of use: not for root, and not without a
 * terminal.  An agent of the session is preferred to it.
 * Returns: (transfer full) (nullable): it ends when this is freed.
 */
PolkitTty *polkit_tty_new (void);
void polkit_tty_free (PolkitTty *agent);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PolkitTty, polkit_tty_free)

G_END_DECLS
