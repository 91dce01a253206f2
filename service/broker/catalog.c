/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The policy image of the executor, parsed.  An invalid set is no set: the older one is dropped and
 * there are no agents.  Only an executor that does not answer leaves the last one in place, since it
 * then can't do anything anyway.
 */
#include "service/broker/catalog.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/fd.h"
#include "service/base/memfd.h"
#include "service/base/wire.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define FRESH ((guint64) G_USEC_PER_SEC)

typedef struct
{
  CatalogCallback callback;
  gpointer data;
} Waiting;

struct Catalog
{
  Executor *executor;
  const PolicyNames *names;
  Policy *policy;         /* NULL while there is no valid one */
  char *fault;            /* why, NULL before the executor ever answered */
  GArray *uids;           /* (element-type uid_t): of the agents */
  GHashTable *initiators; /* user name → uid: who may start some agent */
  int image;              /* kept open, so that nothing else has its inode */
  gboolean is_leased;     /* what was last told of counts for as long as the image is leased */
  guint64 until;          /* and else until then */
  gboolean asking;
  GArray *waiting; /* (element-type Waiting) */
};

Catalog *
catalog_new (Executor *executor, const PolicyNames *names)
{
  Catalog *catalog = g_new0 (Catalog, 1);

  catalog->executor = executor;
  catalog->names = names;
  catalog->image = -1;
  catalog->uids = g_array_new (FALSE, FALSE, sizeof (uid_t));
  catalog->initiators = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  catalog->waiting = g_array_new (FALSE, FALSE, sizeof (Waiting));
  return catalog;
}

void
catalog_free (Catalog *catalog)
{
  if (catalog == NULL)
    return;
  g_clear_pointer (&catalog->policy, policy_free);
  g_free (catalog->fault);
  fd_clear (&catalog->image);
  g_array_unref (catalog->uids);
  g_hash_table_unref (catalog->initiators);
  g_array_unref (catalog->waiting);
  g_free (catalog);
}

static void
add_initiator (Catalog *catalog, const char *name, uid_t uid)
{
  g_hash_table_replace (catalog->initiators, g_strdup (name), GUINT_TO_POINTER (uid));
}

/* By the uids that the set has: nobody is looked up while a call waits. */
static void
catalog_index (Catalog *catalog)
{
  g_autoptr (GPtrArray) agents = policy_agents (catalog->policy);

  for (guint i = 0; i < agents->len; i++)
    {
      const PolicyAgent *agent = agents->pdata[i];

      g_array_append_val (catalog->uids, agent->uid);
      add_initiator (catalog, agent->owner, agent->owner_uid);
      for (guint j = 0; agent->initiators[j] != NULL; j++)
        add_initiator (catalog, agent->initiators[j], agent->initiator_uids[j]);
    }
}

/* Takes @policy, or @fault where there is none. */
static void
catalog_set (Catalog *catalog, Policy *policy, const char *fault)
{
  g_clear_pointer (&catalog->policy, policy_free);
  g_free (catalog->fault);
  catalog->policy = policy;
  catalog->fault = g_strdup (fault);
  g_array_set_size (catalog->uids, 0);
  g_hash_table_remove_all (catalog->initiators);
  if (policy != NULL)
    catalog_index (catalog);
}

static gboolean
is_same_file (int a, int b)
{
  struct stat status_a = { 0 };
  struct stat status_b = { 0 };

  return a >= 0 && b >= 0 && fstat (a, &status_a) == 0 && fstat (b, &status_b) == 0 &&
         status_a.st_ino == status_b.st_ino && status_a.st_dev == status_b.st_dev;
}

static void
catalog_take_image (Catalog *catalog, int fd)
{
  g_autoptr (GBytes) image = NULL;
  g_autoptr (GError) error = NULL;
  Policy *policy = NULL;

  if (catalog->policy != NULL && is_same_file (fd, catalog->image))
    return;

  image = memfd_read (fd, POLICY_MAX_IMAGE, &error);
  if (image != NULL)
    policy = policy_parse (image, catalog->names, &error);
  if (policy == NULL)
    g_warning ("policy: %s", error->message);
  else
    g_message ("policy: loaded");
  catalog_set (catalog, policy, policy == NULL ? error->message : NULL);
  fd_clear (&catalog->image);
  catalog->image = fcntl (fd, F_DUPFD_CLOEXEC, 3);
}

const Policy *
catalog_current (const Catalog *catalog)
{
  return catalog->is_leased && memfd_is_leased (catalog->image) ? catalog->policy : NULL;
}

static gboolean
is_fresh (const Catalog *catalog)
{
  if (catalog->is_leased)
    return memfd_is_leased (catalog->image);
  return catalog->until > clock_boottime () && (catalog->policy != NULL || catalog->fault != NULL);
}

static void
catalog_answered (const Handover *reply, const GError *error, gpointer data)
{
  Catalog *catalog = data;
  g_autoptr (GArray) waiting = g_steal_pointer (&catalog->waiting);
  const char *fault = NULL;

  catalog->waiting = g_array_new (FALSE, FALSE, sizeof (Waiting));
  catalog->asking = FALSE;
  catalog->until = clock_boottime () + FRESH;
  if (reply != NULL)
    g_variant_get (reply->body, "(&s)", &fault);

  if (reply != NULL && fault[0] == '\0' && reply->n_fds == 1)
    catalog_take_image (catalog, reply->fds[0]);
  else if (reply != NULL)
    catalog_set (catalog, NULL, fault[0] != '\0' ? fault : "the executor gave no policy");
  else if (!executor_error_is_silence (error))
    catalog_set (catalog, NULL, error->message);
  catalog->is_leased = catalog->policy != NULL && memfd_is_leased (catalog->image);

  /* Where there is something to go by, an executor that is away is not this call's error. */
  if (catalog->policy != NULL || catalog->fault != NULL)
    error = NULL;
  for (guint i = 0; i < waiting->len; i++)
    {
      const Waiting *one = &g_array_index (waiting, Waiting, i);

      one->callback (error, one->data);
    }
}

void
catalog_refresh (Catalog *catalog, CatalogCallback callback, gpointer data)
{
  Waiting one = { callback, data };

  if (is_fresh (catalog))
    {
      callback (NULL, data);
      return;
    }

  g_array_append_val (catalog->waiting, one);
  if (catalog->asking)
    return;
  catalog->asking = TRUE;
  executor_call (catalog->executor, HANDOVER_POLICY, EXECUTOR_NO_AGENT,
                 g_variant_new (WIRE_EMPTY), NULL, 0, WIRE_POLICY_REPLY, NULL, catalog_answered,
                 catalog);
}

const Policy *
catalog_policy (const Catalog *catalog, GError **error)
{
  if (catalog->policy == NULL)
    us_error_set (error, US_ERROR_POLICY_INVALID, US_REASON_POLICY_INVALID,
                  "the policy of this machine has a fault: an administrator must repair it");
  return catalog->policy;
}

const PolicyAgent *
catalog_agent (const Catalog *catalog, uid_t uid, GError **error)
{
  const Policy *policy = catalog_policy (catalog, error);
  const PolicyAgent *agent = NULL;

  if (policy == NULL)
    return NULL;
  agent = policy_agent_by_uid (policy, uid);
  if (agent == NULL)
    us_error_set (error, US_ERROR_NOT_AGENT, US_REASON_NOT_AGENT, "uid %u is no agent's",
                  (guint) uid);
  return agent;
}

gboolean
catalog_uid_is_agent (const Catalog *catalog, uid_t uid)
{
  return catalog->policy != NULL && policy_agent_by_uid (catalog->policy, uid) != NULL;
}

static gboolean
names_initiator (const PolicyAgent *agent, const char *name)
{
  if (strcmp (agent->owner, name) == 0)
    return TRUE;
  return agent->initiators != NULL &&
         g_strv_contains ((const char *const *) agent->initiators, name);
}

gboolean
catalog_initiates (const Catalog *catalog,
                   uid_t uid,
                   const PolicyAgent *agent,
                   const char **out_name)
{
  GHashTableIter iter;
  gpointer key = NULL;
  gpointer value = NULL;

  g_hash_table_iter_init (&iter, catalog->initiators);
  while (g_hash_table_iter_next (&iter, &key, &value))
    if (GPOINTER_TO_UINT (value) == uid && (agent == NULL || names_initiator (agent, key)))
      {
        if (out_name != NULL)
          *out_name = key;
        return TRUE;
      }
  return FALSE;
}

const GArray *
catalog_agent_uids (const Catalog *catalog)
{
  return catalog->uids;
}
