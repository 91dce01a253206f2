/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set of policy files in memory, for tests: a valid base, which a test changes file by file, and
 * users that are on no machine.
 */
#pragma once

#include "service/policy/policy.h"

#include <glib.h>

G_BEGIN_DECLS

/* agent-offboarding 2001, agent-other 2002, hr.jones 3001 (of @hr), hr.kim 3002 (of @hr), it.lead
 * 3003 (of @it-leads), alice 3004, undersign 901, undersign-executor 902, root 0; "twin" has the
 * uid of alice. */
extern const PolicyNames set_names;
/* set_move_user: it has another uid from now on, or with SET_GONE is gone; NULL: all are back. */
#define SET_GONE ((uid_t) -1)
void set_move_user (const char *name, uid_t uid);

typedef struct Set Set;

/* set_new: modules mail and null; actions mail.send (irreversible), note.write (reversible),
 * account.list (read) and account.suspend (reversible, with a fact); agents offboarding and other;
 * no rule. */
Set *set_new (void);
void set_free (Set *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Set, set_free)

/* set_put: "rules/x.rule"; replaces; its path becomes "/etc/undersign/rules/x.rule", or one in
 * /usr/share where @shipped.  NULL takes the file away, "" masks it. */
void set_put (Set *set, const char *name, const char *text);
void set_put_shipped (Set *set, const char *name, const char *text);
/* set_remove_object: the module's shared object is not installed. */
void set_remove_object (Set *set, const char *module);

GBytes *set_image (Set *set);
/* set_parse: aborts with the faults where there are any. */
Policy *set_parse (Set *set);
/* set_faults: "FILE:LINE: text" lines, the folder /etc/undersign/ left out; NULL: none. */
char *set_faults (Set *set);

/* set_where: what a fault of that line, or with 0 of the whole file, begins with. */
char *set_where (const char *path, guint line);

/* set_assert_fault: one line of the faults begins with @where ("rules/x.rule:3: ") and holds
 * @says. */
void set_assert_fault (Set *set, const char *where, const char *says);

/*
 * set_record: the record of an action as the executor would build it.
 * @part: of the agent
 * @arguments: a GVariant text of type a(sv), without files
 * @initiator: (nullable): a user
 * @facts: (nullable): "name=value", up to a NULL
 */
Record *set_record (const Policy *policy,
                    const char *agent,
                    const char *part,
                    const char *action,
                    const char *arguments,
                    const char *initiator,
                    const char *const *facts);

G_END_DECLS
