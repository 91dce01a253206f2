/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls to org.undersign1.Admin, and to org.undersign1.Launcher. */
#pragma once

#include "service/ctl/ctl.h"

G_BEGIN_DECLS

/*
 * bus_call:
 * @body: (transfer floating) (nullable)
 * @fd: (nullable): a descriptor for handle 0, or -1; not closed
 *
 * Starts the mechanism where it does not run, looks whether root owns its name, and lets polkit ask
 * a person.
 * Returns: (transfer full): the reply, of @reply_type, or NULL with a US_ERROR.
 */
GVariant *bus_call (
    Ctl *ctl, const char *member, GVariant *body, int fd, const char *reply_type, GError **error);

/* bus_call_launcher: the same of the other mechanism, which takes no descriptor here. */
GVariant *bus_call_launcher (
    Ctl *ctl, const char *member, GVariant *body, const char *reply_type, GError **error);

/* bus_do: the same for a member that returns nothing; prints @text. */
gboolean bus_do (Ctl *ctl, const char *member, GVariant *body, const char *text, GError **error);

G_END_DECLS
