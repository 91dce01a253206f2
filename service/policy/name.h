/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How things of policy may be called.  Every name of a file, a section or a list is one of these;
 * none can hold white space, a slash, a control character or anything outside ASCII.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define NAME_MAX_PLAIN 64
#define NAME_MAX_ACTION 128
#define NAME_MAX_MODULE 20 /* undersign-NAME is a user name, at most 32 characters */
#define NAME_MAX_USER 128

/* name_is_action_id: [a-z][a-z0-9]*(\.[a-z][a-z0-9-]*)+ */
gboolean name_is_action_id (const char *text);
/* name_is_action_prefix: PREFIX of "PREFIX.*": one or more words of an action id. */
gboolean name_is_action_prefix (const char *text);
/* name_is_plain: agents, rules, parts and files of rules: [a-z][a-z0-9-]* */
gboolean name_is_plain (const char *text);
gboolean name_is_module (const char *text);
/* name_is_member: arguments and facts: [a-z][a-z0-9_-]* */
gboolean name_is_member (const char *text);
/* name_is_setting: [a-z][a-z0-9]*(-[a-z][a-z0-9]*)*, so that its key in a file is unambiguous. */
gboolean name_is_setting (const char *text);
/* name_is_credential: [a-z0-9][a-z0-9._-]* without two full stops together */
gboolean name_is_credential (const char *text);
/* name_is_user: users and groups: letters, digits and ._-+$@, first a letter, digit or '_', not
 * digits alone, so that no number can be taken for a name. */
gboolean name_is_user (const char *text);

/* name_is_service_user: "undersign" and "undersign-…": the users of this service. */
gboolean name_is_service_user (const char *user);

G_END_DECLS
