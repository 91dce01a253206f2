/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of members.  It is looked at before anything else of a message; it is in the order of
 * dbus/org.undersign1.Admin.xml, with which tests/admin compares it.
 */
#include "service/admin/member.h"

#include "dbus/names.h"

#define ACTION(name) "org.undersign1." name

static const AdminMember members[] = {
  { "BeginEnroll", "(sa{sv})", ACTION ("enroll"), FALSE, handle_begin_enroll },
  { "FinishEnroll", "(sa{sv})", ACTION ("enroll"), TRUE, handle_finish_enroll },
  { "ListPasskeys", "()", ACTION ("list-passkeys"), FALSE, handle_list_passkeys },
  { "RevokePasskey", "(ay)", ACTION ("revoke-passkey"), FALSE, handle_revoke_passkey },
  { "SetCredential", "(ssh)", ACTION ("set-credential"), FALSE, handle_set_credential },
  { "RemoveCredential", "(ss)", ACTION ("remove-credential"), FALSE, handle_remove_credential },
  { "ReloadPolicy", "()", ACTION ("reload-policy"), FALSE, handle_reload_policy },
  { "Halt", "(s)", ACTION ("halt"), FALSE, handle_halt },
  { "Resume", "(s)", ACTION ("resume"), FALSE, handle_resume },
  { "Resolve", "(sss)", ACTION ("resolve"), FALSE, handle_resolve },
  { "ReadAudit", "(tu)", ACTION ("read-audit"), FALSE, handle_read_audit },
  { "GetCheckpoint", "()", ACTION ("get-checkpoint"), FALSE, handle_get_checkpoint },
  { "PruneAudit", "(s)", ACTION ("prune-audit"), FALSE, handle_prune_audit },
  { "Status", "()", ACTION ("status"), FALSE, handle_status },
};

const AdminMember *
member_find (const char *interface, const char *name)
{
  if (g_strcmp0 (interface, US_INTERFACE_ADMIN) != 0)
    return NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (members); i++)
    if (g_strcmp0 (members[i].name, name) == 0)
      return &members[i];
  return NULL;
}

const AdminMember *
member_at (guint i)
{
  return i < G_N_ELEMENTS (members) ? &members[i] : NULL;
}
