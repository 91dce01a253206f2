/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counting what each uid uses.  A function here either takes what was asked for or changes nothing;
 * there is no exemption, not for root either.
 */
#include "service/broker/limits.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#define MINUTE (60 * (guint64) G_USEC_PER_SEC)

const LimitsConfig limits_default = {
  .pending = 8,
  .pending_all = 64,
  .pending_reserve = 1,
  .submits_per_minute = 30,
  .runs_per_minute = 60,
  .spool_bytes = 256 * 1024 * 1024,
  .spool_bytes_all = 1024 * 1024 * 1024,
  .disk_reserve = 256 * 1024 * 1024,
  .denials = 3,
  .denial_period = 600,
  .denial_pause = 600,
};

typedef struct
{
  guint pending;
  guint64 bytes;
  GArray *submits; /* (element-type guint64): times, oldest first, none older than needed */
  GArray *runs;
  GArray *denials;
  GHashTable *pauses; /* uid of who made it → guint64 *, its end */
  guint64 asked;      /* when it last had the ledger asked; 0: never */
} Usage;

struct Limits
{
  LimitsConfig config;
  GHashTable *usage; /* uid → Usage */
  guint pending;
  guint64 bytes;
};

static void
usage_free (gpointer data)
{
  Usage *usage = data;

  g_array_unref (usage->submits);
  g_array_unref (usage->runs);
  g_array_unref (usage->denials);
  g_hash_table_unref (usage->pauses);
  g_free (usage);
}

static const Usage *
usage_peek (const Limits *limits, uid_t uid)
{
  return g_hash_table_lookup (limits->usage, GUINT_TO_POINTER (uid));
}

static Usage *
usage_get (Limits *limits, uid_t uid)
{
  Usage *usage = g_hash_table_lookup (limits->usage, GUINT_TO_POINTER (uid));

  if (usage == NULL)
    {
      usage = g_new0 (Usage, 1);
      usage->submits = g_array_new (FALSE, FALSE, sizeof (guint64));
      usage->runs = g_array_new (FALSE, FALSE, sizeof (guint64));
      usage->denials = g_array_new (FALSE, FALSE, sizeof (guint64));
      usage->pauses = g_hash_table_new_full (NULL, NULL, NULL, g_free);
      g_hash_table_insert (limits->usage, GUINT_TO_POINTER (uid), usage);
    }
  return usage;
}

Limits *
limits_new (const LimitsConfig *config)
{
  Limits *limits = g_new0 (Limits, 1);

  limits->config = *config;
  limits->usage = g_hash_table_new_full (NULL, NULL, NULL, usage_free);
  return limits;
}

void
limits_free (Limits *limits)
{
  if (limits == NULL)
    return;
  g_hash_table_unref (limits->usage);
  g_free (limits);
}

const LimitsConfig *
limits_config (const Limits *limits)
{
  return &limits->config;
}

/* Drops the times before @since and says how many are left. */
static guint
times_since (GArray *times, guint64 since)
{
  guint n = 0;

  while (n < times->len && g_array_index (times, guint64, n) <= since)
    n++;
  if (n > 0)
    g_array_remove_range (times, 0, n);
  return times->len;
}

/* Counts one in @times, unless there are @most in the last minute. */
static gboolean
count_in_minute (GArray *times, guint most, const char *name, guint64 now, GError **error)
{
  if (times_since (times, now > MINUTE ? now - MINUTE : 0) >= most)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT, "%s is %u", name, most);
  g_array_append_val (times, now);
  return TRUE;
}

gboolean
limits_submit (Limits *limits, uid_t uid, guint64 now, GError **error)
{
  return count_in_minute (usage_get (limits, uid)->submits, limits->config.submits_per_minute,
                          "SubmitsPerMinute", now, error);
}

gboolean
limits_run (Limits *limits, uid_t uid, guint64 now, GError **error)
{
  return count_in_minute (usage_get (limits, uid)->runs, limits->config.runs_per_minute,
                          "RunsPerMinute", now, error);
}

gboolean
limits_ask (Limits *limits, uid_t uid, guint64 now)
{
  Usage *usage = usage_get (limits, uid);

  if (usage->asked != 0 && now - usage->asked < (guint64) G_USEC_PER_SEC)
    return FALSE;
  usage->asked = now;
  return TRUE;
}

/* What the other agents have not yet used of their reserves. */
static guint
reserved_for_others (const Limits *limits, uid_t uid, const uid_t *agents, guint n_agents)
{
  guint reserved = 0;

  for (guint i = 0; i < n_agents; i++)
    {
      guint pending = agents[i] != uid ? limits_pending (limits, agents[i]) : G_MAXUINT;

      if (pending < limits->config.pending_reserve)
        reserved += limits->config.pending_reserve - pending;
    }
  return reserved;
}

static gboolean
check_room (const Limits *limits,
            uid_t uid,
            const uid_t *agents,
            guint n_agents,
            GError **error)
{
  const LimitsConfig *config = &limits->config;
  guint own = limits_pending (limits, uid);
  guint kept = 0;

  if (own >= config->pending)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                         "Pending is %u: as many requests of this agent have not ended",
                         config->pending);
  /* A place of one's own reserve is taken from nobody. */
  if (own >= config->pending_reserve)
    kept = reserved_for_others (limits, uid, agents, n_agents);
  if (limits->pending >= config->pending_all || config->pending_all - limits->pending <= kept)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                         "PendingAll is %u: as many requests have not ended, or the places left "
                         "are kept for other agents",
                         config->pending_all);
  return TRUE;
}

/* Half of the room is kept for the agents of policy, for each as much; the other half is for whoever
 * comes first. */
static guint64
bytes_share (const Limits *limits, guint n_agents)
{
  return MIN (limits->config.spool_bytes, limits->config.spool_bytes_all / 2 / MAX (n_agents, 1));
}

/* What the other agents have not yet used of their shares. */
static guint64
bytes_for_others (const Limits *limits, uid_t uid, const uid_t *agents, guint n_agents)
{
  guint64 share = bytes_share (limits, n_agents);
  guint64 kept = 0;

  for (guint i = 0; i < n_agents; i++)
    {
      const Usage *usage = usage_peek (limits, agents[i]);

      if (agents[i] != uid)
        kept += share - MIN (share, usage != NULL ? usage->bytes : 0);
    }
  return kept;
}

static gboolean
check_bytes (const Limits *limits,
             uid_t uid,
             guint64 bytes,
             const uid_t *agents,
             guint n_agents,
             GError **error)
{
  const LimitsConfig *config = &limits->config;
  const Usage *usage = usage_peek (limits, uid);
  guint64 own = usage != NULL ? usage->bytes : 0;
  guint64 kept = 0;

  if (bytes > config->spool_bytes || own > config->spool_bytes - bytes)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                         "SpoolBytes is %" G_GUINT64_FORMAT
                         ": the files of this agent's requests would have more",
                         config->spool_bytes);
  /* Room of one's own share is taken from nobody, and none is needed without files. */
  if (bytes > 0 && own + bytes > bytes_share (limits, n_agents))
    kept = bytes_for_others (limits, uid, agents, n_agents);
  if (bytes > config->spool_bytes_all || limits->bytes > config->spool_bytes_all - bytes ||
      kept > config->spool_bytes_all - bytes - limits->bytes)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                         "SpoolBytesAll is %" G_GUINT64_FORMAT
                         ": the files would have more, or the room left is kept for other agents",
                         config->spool_bytes_all);
  return TRUE;
}

gboolean
limits_reserve (Limits *limits,
                uid_t uid,
                guint64 bytes,
                const uid_t *agents,
                guint n_agents,
                GError **error)
{
  if (!check_room (limits, uid, agents, n_agents, error) ||
      !check_bytes (limits, uid, bytes, agents, n_agents, error))
    return FALSE;
  limits_take (limits, uid, bytes);
  return TRUE;
}

void
limits_take (Limits *limits, uid_t uid, guint64 bytes)
{
  Usage *usage = usage_get (limits, uid);

  usage->pending++;
  usage->bytes += bytes;
  limits->pending++;
  limits->bytes += bytes;
}

void
limits_release (Limits *limits, uid_t uid, guint64 bytes)
{
  Usage *usage = usage_get (limits, uid);

  g_assert (usage->pending > 0 && usage->bytes >= bytes);
  usage->pending--;
  usage->bytes -= bytes;
  limits->pending--;
  limits->bytes -= bytes;
}

guint
limits_pending (const Limits *limits, uid_t uid)
{
  const Usage *usage = usage_peek (limits, uid);

  return usage != NULL ? usage->pending : 0;
}

guint
limits_pending_all (const Limits *limits)
{
  return limits->pending;
}

/* --- pauses --- */

gboolean
limits_denied (Limits *limits, uid_t uid, guint64 now, guint64 *out_until)
{
  const LimitsConfig *config = &limits->config;
  Usage *usage = usage_get (limits, uid);
  guint64 period = config->denial_period * (guint64) G_USEC_PER_SEC;
  guint64 until = now + config->denial_pause * (guint64) G_USEC_PER_SEC;

  if (config->denials == 0)
    return FALSE;

  g_array_append_val (usage->denials, now);
  if (times_since (usage->denials, now > period ? now - period : 0) < config->denials)
    return FALSE;

  /* These have had their effect: the next pause needs as many again. */
  g_array_set_size (usage->denials, 0);
  limits_pause (limits, uid, PAUSE_BY_DENIALS, until);
  *out_until = until;
  return TRUE;
}

void
limits_pause (Limits *limits, uid_t uid, uid_t by, guint64 until)
{
  Usage *usage = usage_get (limits, uid);

  if (until == 0)
    g_hash_table_remove (usage->pauses, GUINT_TO_POINTER (by));
  else
    g_hash_table_insert (usage->pauses, GUINT_TO_POINTER (by),
                         g_memdup2 (&until, sizeof until));
}

gboolean
limits_paused (const Limits *limits, uid_t uid, guint64 now, guint64 *out_until)
{
  const Usage *usage = usage_peek (limits, uid);
  guint64 last = 0;
  GHashTableIter iter;
  gpointer value = NULL;

  if (usage == NULL)
    return FALSE;

  g_hash_table_iter_init (&iter, usage->pauses);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    last = MAX (last, *(guint64 *) value);
  if (last <= now)
    return FALSE;
  if (out_until != NULL)
    *out_until = last;
  return TRUE;
}

gboolean
limits_paused_by (const Limits *limits, uid_t uid, uid_t by, guint64 now)
{
  const Usage *usage = usage_peek (limits, uid);
  const guint64 *until = NULL;

  if (usage != NULL)
    until = g_hash_table_lookup (usage->pauses, GUINT_TO_POINTER (by));
  return until != NULL && *until > now;
}
