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
  const char *name;
  const char *signature; /* of the body, "()" for none */
  const char *action;    /* the polkit action */
  /* TRUE: an earlier call of the same caller was authorised and this one is bound to it */
  gboolean bound;
  AdminHandler handler;
} AdminMember;

/* member_find: NULL for anything that is not in the table. */
const AdminMember *member_find (const char *interface, const char *name);

/* member_at: the table in order; NULL after the last. */
const AdminMember *member_at (guint i);

G_END_DECLS
