/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Putting the daemon together and taking it apart.  The name is owned last, when everything that was
 * going on before a restart has been read back.
 */
#include "service/broker/daemon.h"

#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/fd.h"
#include "service/broker/cards.h"
#include "service/broker/config-file.h"
#include "service/broker/follow.h"
#include "service/broker/life.h"
#include "service/broker/members.h"
#include "service/broker/reach.h"
#include "service/broker/restart.h"

#include <fcntl.h>
#include <sys/stat.h>

#define HOURLY (60 * 60) /* seconds */

/* --- hooks --- */

static gboolean
persist_request (const Request *request, const Request *with, gpointer data, GError **error)
{
  Broker *broker = data;

  if (with != NULL)
    return queue_save_successor (broker->queue, with, request, error);
  return queue_save (broker->queue, request, error);
}

static gboolean
save_run (const Run *run, gpointer data, GError **error)
{
  Broker *broker = data;

  return queue_save_run (broker->queue, run, error);
}

static gboolean
drop_run (const char *id, gpointer data, GError **error)
{
  Broker *broker = data;

  return queue_drop_run (broker->queue, id, error);
}

static void
name_left (const char *name, gpointer data)
{
  Broker *broker = data;

  if (name == NULL)
    {
      g_warning ("the bus closed the connection");
      broker->stopped (broker->stopped_data);
      return;
    }
  identity_forget (broker->identity, name);
  cards_forget (broker, name);
  signals_forget (broker->signals, name, broker->requests);
}

/* --- what was kept --- */

static void
take_run (Run *run, gpointer data)
{
  Broker *broker = data;

  runs_restore (broker->runs, run);
}

static void
take_pause (uid_t uid, uid_t by, gint64 until, gpointer data)
{
  Broker *broker = data;
  gint64 left = until - clock_wall ();

  if (left > 0)
    limits_pause (broker->limits, uid, by,
                  clock_boottime () + (guint64) left * (guint64) G_USEC_PER_SEC);
}

/* What has to be done now and then, and early enough. */
static void
housekeeping (gpointer data)
{
  Broker *broker = data;

  runs_expire (broker->runs, clock_wall ());
  queue_purge (broker->queue, clock_wall () - QUEUE_KEEP);
  broker->hourly_timer = expiry_add_seconds (broker->expiry, HOURLY, housekeeping, broker);
}

/* --- opening --- */

static gboolean
open_state (Broker *broker, const DaemonParameters *parameters, GError **error)
{
  LimitsConfig config = limits_default;
  g_autofree char *spool = g_build_filename (parameters->state_dir, "spool", NULL);

  if (!config_load (parameters->config_dir, parameters->config_owner, &config, error))
    return FALSE;
  broker->limits = limits_new (&config);

  broker->expiry = expiry_new (error);
  if (broker->expiry == NULL)
    return FALSE;
  broker->queue = queue_open (parameters->state_dir, broker->expiry, error);
  if (broker->queue == NULL)
    return FALSE;
  broker->id_key = id_key_open (parameters->state_dir, error);
  if (broker->id_key == NULL)
    return FALSE;
  if (mkdir (spool, 0700) == 0 || errno == EEXIST)
    broker->spool = open (spool, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (broker->spool < 0)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL, "cannot open %s: %s",
                         spool, g_strerror (errno));
  return TRUE;
}

static gboolean
open_bus (Broker *broker, const DaemonParameters *parameters, GError **error)
{
  broker->bus = bus_new (parameters->bus_address, members_judge, members_dispatch, name_left, broker,
                         error);
  if (broker->bus == NULL)
    return FALSE;
  broker->identity = identity_new (bus_connection (broker->bus), parameters->identity_map,
                                   parameters->identity_data);
  broker->signals = signals_new (broker->bus);
  return TRUE;
}

Broker *
daemon_new (const DaemonParameters *parameters,
            void (*stopped) (gpointer data),
            gpointer data,
            GError **error)
{
  g_autoptr (Broker) broker = g_new0 (Broker, 1);

  broker->stopped = stopped;
  broker->stopped_data = data;
  broker->spool = -1;
  broker->reach_period = parameters->reach_period;
  broker->register_wait = parameters->register_wait;
  broker->request_hooks = (RequestHooks) { persist_request, follow_move, broker };
  broker->run_hooks = (RunHooks) { save_run, drop_run, broker };
  broker->requests =
      g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) request_unref);
  broker->registering = g_ptr_array_new ();
  broker->calls = g_hash_table_new (NULL, NULL);
  broker->turns = turns_new ();
  broker->executor = executor_new (parameters->executor_socket);
  broker->approvers = approvers_new (broker->executor);
  broker->catalog = catalog_new (broker->executor, parameters->names);
  broker->runs = runs_new (&broker->run_hooks);
  if (!open_state (broker, parameters, error) || !open_bus (broker, parameters, error))
    return NULL;

  if (!queue_foreach_run (broker->queue, take_run, broker, error) ||
      !queue_foreach_pause (broker->queue, take_pause, broker, error) ||
      !restart_resume (broker, error))
    return NULL;
  housekeeping (broker);
  reach_start (broker);
  if (!bus_own (broker->bus, US_BUS_NAME, error))
    return NULL;
  return g_steal_pointer (&broker);
}

static void
drop_requests (Broker *broker)
{
  g_autoptr (GList) requests = g_hash_table_get_values (broker->requests);

  for (GList *l = requests; l != NULL; l = l->next)
    {
      Request *request = l->data;

      life_answer (request, NULL);
      life_stop (broker, request);
    }
}

void
daemon_free (Broker *broker)
{
  if (broker == NULL)
    return;

  broker->is_ending = TRUE;
  /* First whatever could call back, so that every call has its answer and nothing is left over. */
  identity_free (broker->identity);
  /* Once the executor is silent it would look as if no card were to come. */
  cards_forget (broker, NULL);
  files_stop ();
  executor_free (broker->executor);
  if (broker->expiry != NULL)
    drop_requests (broker);
  bus_free (broker->bus);
  approvers_free (broker->approvers);
  catalog_free (broker->catalog);
  signals_free (broker->signals);
  g_hash_table_unref (broker->requests);
  g_ptr_array_unref (broker->registering);
  g_hash_table_unref (broker->calls);
  turns_free (broker->turns);
  limits_free (broker->limits);
  runs_free (broker->runs);
  queue_close (broker->queue);
  expiry_free (broker->expiry);
  secret_free (broker->id_key);
  fd_clear (&broker->spool);
  g_free (broker);
}
