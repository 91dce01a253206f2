/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Policy as the broker knows it: the executor's image, asked for again when its lease has ended, or
 * where it has none when it is a second old.  Here it tells agents from others, describes actions
 * and refuses what it denies; it allows nothing.
 */
#pragma once

#include "service/broker/executor.h"
#include "service/policy/policy.h"

#include <glib.h>

G_BEGIN_DECLS

typedef struct Catalog Catalog;

/* catalog_new: @names must outlive it. */
Catalog *catalog_new (Executor *executor, const PolicyNames *names);
/* catalog_free: after executor_free(), which ends what is under way. */
void catalog_free (Catalog *catalog);

/* CatalogCallback: @error: there is no policy to work with, since the executor never answered. */
typedef void (*CatalogCallback) (const GError *error, gpointer data);

/* catalog_refresh: calls back once what follows is fresh, at once where it is. */
void catalog_refresh (Catalog *catalog, CatalogCallback callback, gpointer data);

/* catalog_current: (nullable): the set, where no newer one has been loaded: what it denies is denied.
 * To be asked for anew each time. */
const Policy *catalog_current (const Catalog *catalog);

/* catalog_policy: NULL with US_ERROR_POLICY_INVALID where the set has a fault. */
const Policy *catalog_policy (const Catalog *catalog, GError **error);

/* catalog_agent: NULL with US_ERROR_NOT_AGENT or US_ERROR_POLICY_INVALID. */
const PolicyAgent *catalog_agent (const Catalog *catalog, uid_t uid, GError **error);
gboolean catalog_uid_is_agent (const Catalog *catalog, uid_t uid);

/*
 * catalog_initiates: whether @uid is the owner or an initiator of @agent, or, where that is NULL, of
 *   any agent.
 * @out_name: (out) (optional): its user name as policy has it, borrowed
 */
gboolean catalog_initiates (const Catalog *catalog,
                            uid_t uid,
                            const PolicyAgent *agent,
                            const char **out_name);

/* catalog_agent_uids: (element-type uid_t), of every agent; borrowed. */
const GArray *catalog_agent_uids (const Catalog *catalog);

G_END_DECLS
