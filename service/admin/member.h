/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one table of what can be called: a member that is not in it does not exist, and one without
 * an action cannot be written down.
 */
#pragma once

#include "service/admin/call.h"

G_BEGIN_DECLS

typedef struct
{
  MechanismMember common; /* the first member: the mechanism knows no more of it */
  AdminHandler handler;
} AdminMember;

/* member_find: NULL for anything that is not in the table. */
const MechanismMember *member_find (const char *interface, const char *name);

/* member_at: the table in order; NULL after the last. */
const AdminMember *member_at (guint i);

G_END_DECLS
