/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of members.  It is looked at before anything else of a message; it is in the order of
 * dbus/org.undersign1.Admin.xml, with which tests/admin compares it.
 */
#include "service/admin/member.h"

#include "dbus/names.h"

static GVariant *handle (MechanismCall *call, GError **error);

#define MEMBER(name, signature, action, bound, handler)                                            \
  {                                                                                                \
    { name, signature, "org.undersign1." action, bound, NULL, handle }, handler                    \
  }

static const AdminMember members[] = {
  MEMBER ("BeginEnroll", "(sa{sv})", "enroll", FALSE, handle_begin_enroll),
  MEMBER ("FinishEnroll", "(sa{sv})", "enroll", TRUE, handle_finish_enroll),
  MEMBER ("ListPasskeys", "()", "list-passkeys", FALSE, handle_list_passkeys),
  MEMBER ("RevokePasskey", "(ay)", "revoke-passkey", FALSE, handle_revoke_passkey),
  MEMBER ("SetCredential", "(ssh)", "set-credential", FALSE, handle_set_credential),
  MEMBER ("RemoveCredential", "(ss)", "remove-credential", FALSE, handle_remove_credential),
  MEMBER ("ReloadPolicy", "()", "reload-policy", FALSE, handle_reload_policy),
  MEMBER ("Halt", "(s)", "halt", FALSE, handle_halt),
  MEMBER ("Resume", "(s)", "resume", FALSE, handle_resume),
  MEMBER ("Resolve", "(sss)", "resolve", FALSE, handle_resolve),
  MEMBER ("ReadAudit", "(tu)", "read-audit", FALSE, handle_read_audit),
  MEMBER ("GetCheckpoint", "()", "get-checkpoint", FALSE, handle_get_checkpoint),
  MEMBER ("PruneAudit", "(s)", "prune-audit", FALSE, handle_prune_audit),
  MEMBER ("Status", "()", "status", FALSE, handle_status),
};

static GVariant *
handle (MechanismCall *call, GError **error)
{
  const AdminMember *member = (const AdminMember *) call->member;
  const AdminCall handed = { .state = mechanism_data (call->mechanism),
                             .given = call,
                             .body = call->body,
                             .fds = call->fds,
                             .sender = call->sender,
                             .uid = call->uid };

  return member->handler (&handed, error);
}

const MechanismMember *
member_find (const char *interface, const char *name)
{
  if (g_strcmp0 (interface, US_INTERFACE_ADMIN) != 0)
    return NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (members); i++)
    if (g_strcmp0 (members[i].common.name, name) == 0)
      return &members[i].common;
  return NULL;
}

const AdminMember *
member_at (guint i)
{
  return i < G_N_ELEMENTS (members) ? &members[i] : NULL;
}
