/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a tool gives back.  It says twice whether anything ran, in content and in structuredContent,
 * since a client may show its model only one.  It holds our own words, the service's, and what the
 * module said; never an approver's name, and never the words of a person.
 */
#pragma once

#include "agentlib/lib/undersign.h"
#include "agentlib/mcp/era.h"

G_BEGIN_DECLS

JsonTree *result_of_status (Revision revision, const char *path, const UsStatus *status);

/*
 * result_of_error: there is no request, or none that is known of.
 * @executed: no, or unknown where it may have been made
 */
JsonTree *result_of_error (Revision revision, const GError *error, UsExecuted executed);

/* result_for_task: as result_of_status(), with the name of the task that 2025-11-25 wants. */
JsonTree *result_for_task (Revision revision, const char *path, const UsStatus *status);

/* result_taken_back: as result_of_status(), but that it was withdrawn is no error. */
JsonTree *result_taken_back (Revision revision, const char *path, const UsStatus *status);

/* result_too_late: as result_of_status(), of a request that could not be taken back. */
JsonTree *result_too_late (Revision revision, const char *path, const UsStatus *status);

/* error_sentence: what result_of_error() says first.  error_data: its structuredContent. */
char *error_sentence (const GError *error, UsExecuted executed);
JsonTree *error_data (const GError *error, UsExecuted executed);

/* state_is_good: whether a result of @state is no error. */
gboolean state_is_good (UsState state);

/* request_id: the last component of a path.  request_path: (nullable): NULL for what is no id. */
const char *request_id (const char *path);
char *request_path (const char *id);

G_END_DECLS
