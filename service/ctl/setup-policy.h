/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the questions of undersignctl setup need of policy as it is, and as it would be. */
#pragma once

#include "service/ctl/setup.h"

G_BEGIN_DECLS

/* Stands in for a person who is asked for later: a name like any other, so that it hides no fault of
 * another line, but one that neither owns nor approves. */
#define SETUP_UNKNOWN "root"

/* setup_policy_path: (transfer full): where the agent's file is, or is to be. */
char *setup_policy_path (const Setup *setup, SetupFile file);

/* setup_policy_look: whether the file is there, and what it holds or is to be made of. */
gboolean setup_policy_look (Setup *setup, SetupFile file, GError **error);

/* setup_policy_found: (nullable): what a file that is there has of @key. */
const char *setup_policy_found (const Setup *setup, SetupFile file, const char *key);

/* setup_policy_check_found: what policy's reader says of the files that are there, be the others as they
 * may. */
gboolean setup_policy_check_found (const Setup *setup, GError **error);

/* setup_policy_compose: the text of each file that is not there, of what is known by now. */
void setup_policy_compose (Setup *setup);

/* setup_policy_set: the text of one.  @text: (transfer full) */
void setup_policy_set (Setup *setup, SetupFile file, char *text);

/*
 * setup_policy_fault: what policy's reader says of the line of a file that holds an answer.
 * Returns: (transfer full) (nullable)
 */
char *setup_policy_fault (const Setup *setup, SetupFile file, const char *key, const char *value);

G_END_DECLS
