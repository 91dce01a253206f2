/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a person asks of the administrator's mechanism, org.undersign1.Admin: enrol and revoke. */
#pragma once

#include "module/card/key/key.h"
#include "module/card/tty/trust.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct Admin Admin;

/* admin_open: pins the owner of org.undersign1.Admin; has a polkit agent ask on this terminal where
 * there is one and no other agent is. */
Admin *admin_open (const Trust *trust, GError **error);
void admin_close (Admin *admin);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Admin, admin_close)

typedef struct
{
  char *id;
  guint8 challenge[PAE_DIGEST_SIZE];
  char *rp;
  GBytes *user_id;    /* (nullable) */
  GPtrArray *exclude; /* (element-type GBytes) */
} AdminEnrolment;

void admin_enrolment_free (AdminEnrolment *enrolment);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdminEnrolment, admin_enrolment_free)

/* admin_begin_enrol: reason bad-message where relying party or origin are not this machine's. */
AdminEnrolment *admin_begin_enrol (
    Admin *admin, const char *user, const char *kind, const char *label, GError **error);

gboolean admin_finish_enrol (Admin *admin,
                             const AdminEnrolment *enrolment,
                             const KeyRegistration *registration,
                             GError **error);

gboolean admin_revoke (Admin *admin, GBytes *credential, GError **error);

G_END_DECLS
