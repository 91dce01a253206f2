/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Asks polkit whether a caller may do something. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A question that has no answer yet. */
typedef struct Authority Authority;

/* Called once: @error is NULL only where polkit said yes; it is borrowed. */
typedef void (*AuthorityDone) (const GError *error, gpointer data);

/*
 * authority_check:
 * @bus: the system bus
 * @action: the polkit action
 * @details: (nullable) (transfer floating): of type a{ss}
 * @sender: the caller's unique name, which is the subject
 * @interactive: whether polkit may ask a person
 * @seconds: after which there is no answer: the check is cancelled, the call denied
 *
 * Never calls @done before it returns.
 * Returns: borrowed, until @done is called.
 */
Authority *authority_check (GDBusConnection *bus,
                            const char *action,
                            GVariant *details,
                            const char *sender,
                            gboolean interactive,
                            guint seconds,
                            AuthorityDone done,
                            gpointer data);

/* authority_cancel: has it denied soon, with reason unreachable. */
void authority_cancel (Authority *authority);

G_END_DECLS
