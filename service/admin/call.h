/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One method call that polkit has authorised, and the state that calls share. */
#pragma once

#include "service/admin/admin.h"
#include "service/admin/enrolment.h"
#include "service/mechanism/mechanism.h"

G_BEGIN_DECLS

typedef struct
{
  const AdminConfig *config;
  GDBusConnection *bus;
  Enrolments *enrolments;
} AdminState;

typedef struct
{
  AdminState *state;
  MechanismCall *given; /* to be deferred */
  GVariant *body;     /* of the member's signature */
  GUnixFDList *fds;   /* (nullable) */
  const char *sender; /* unique name */
  uid_t uid;          /* of the sender, as the bus says */
} AdminCall;

/*
 * A handler: checks the values, does it, and returns the body of the reply, floating; NULL with a
 * US_ERROR otherwise, or without one where it has deferred the call.
 */
typedef GVariant *(*AdminHandler) (const AdminCall *call, GError **error);

GVariant *handle_begin_enroll (const AdminCall *call, GError **error);
GVariant *handle_finish_enroll (const AdminCall *call, GError **error);
GVariant *handle_list_passkeys (const AdminCall *call, GError **error);
GVariant *handle_revoke_passkey (const AdminCall *call, GError **error);
GVariant *handle_set_credential (const AdminCall *call, GError **error);
GVariant *handle_remove_credential (const AdminCall *call, GError **error);
GVariant *handle_reload_policy (const AdminCall *call, GError **error);
GVariant *handle_halt (const AdminCall *call, GError **error);
GVariant *handle_resume (const AdminCall *call, GError **error);
GVariant *handle_resolve (const AdminCall *call, GError **error);
GVariant *handle_read_audit (const AdminCall *call, GError **error);
GVariant *handle_get_checkpoint (const AdminCall *call, GError **error);
GVariant *handle_prune_audit (const AdminCall *call, GError **error);
GVariant *handle_status (const AdminCall *call, GError **error);

G_END_DECLS
