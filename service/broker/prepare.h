/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Asking the executor to prepare a request: what is sent, and taking what comes back.  Used for a
 * submission, for the successor of a refused request, and for a pending one after a restart.
 */
#pragma once

#include "service/broker/catalog.h"
#include "service/broker/executor.h"
#include "service/broker/files.h"
#include "service/broker/request.h"

#include <glib.h>

G_BEGIN_DECLS

/*
 * prepare_refused: what the executor is not asked: the set of policy that it goes by refuses these
 * arguments.  Nothing is allowed here; limits, facts, files and who opened a run are the executor's.
 * @raw: WIRE_REQUEST
 *
 * Returns: TRUE with the error that the executor would give, FALSE to ask it.
 */
gboolean
prepare_refused (const Catalog *catalog, GVariant *raw, const Files *files, GError **error);

/*
 * prepare_send:
 * @catalog: says which module it may wait for
 * @raw: WIRE_REQUEST
 */
void prepare_send (Executor *executor,
                   const Catalog *catalog,
                   GVariant *raw,
                   const Files *files,
                   ExecutorCallback callback,
                   gpointer data);

/*
 * prepare_take: sets what was prepared for @raw.
 * @out_asks: (out): whether a person is to be asked; FALSE is "allow"
 *
 * Returns: FALSE, nothing changed, where the reply is no answer to @raw.
 */
gboolean prepare_take (Request *request,
                       GVariant *raw,
                       const Handover *reply,
                       gboolean *out_asks,
                       GError **error);

/* prepare_raw_of_successor: the same wish under another id.  (transfer full) */
GVariant *prepare_raw_of_successor (const Request *refused, const char *id);

G_END_DECLS
