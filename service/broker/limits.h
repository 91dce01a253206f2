/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What one agent may use of the service, and the pauses that keep it from asking.  Everything is
 * counted by uid, not by connection, and there is no uid that is not counted.  Times are
 * CLOCK_BOOTTIME in microseconds and are the caller's to give.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* undersign.conf(5), section LIMITS */
typedef struct
{
  guint pending;            /* requests of one agent that have not ended */
  guint pending_all;        /* of all agents */
  guint pending_reserve;    /* kept free for each agent, whatever the others do */
  guint submits_per_minute; /* of one agent */
  guint runs_per_minute;    /* opened and closed, by one agent or initiator */
  guint64 spool_bytes;      /* files of the requests of one agent that have not ended */
  guint64 spool_bytes_all;
  guint64 disk_reserve;     /* bytes of the disk that no request may use */
  guint denials;            /* so many in the period pause the agent; 0: never */
  guint64 denial_period, denial_pause; /* seconds */
} LimitsConfig;

extern const LimitsConfig limits_default;

typedef struct Limits Limits;

/* limits_new: @config is copied. */
Limits *limits_new (const LimitsConfig *config);
void limits_free (Limits *limits);
const LimitsConfig *limits_config (const Limits *limits);

/* limits_submit: counts one Submit(); FALSE with US_ERROR_LIMIT_EXCEEDED, reason limit. */
gboolean limits_submit (Limits *limits, uid_t uid, guint64 now, GError **error);

/* limits_run: the same for one run that is opened or closed. */
gboolean limits_run (Limits *limits, uid_t uid, guint64 now, GError **error);

/* limits_ask: whether the ledger may be asked of an unknown outcome: for each uid once a second. */
gboolean limits_ask (Limits *limits, uid_t uid, guint64 now);

/*
 * limits_reserve: takes room for one request and its files, which limits_release() gives back.
 * @agents: (array length=n_agents): every agent of policy, for the reserves
 */
gboolean limits_reserve (Limits *limits,
                         uid_t uid,
                         guint64 bytes,
                         const uid_t *agents,
                         guint n_agents,
                         GError **error);
/* limits_take: the same without asking, for what was accepted before a restart. */
void limits_take (Limits *limits, uid_t uid, guint64 bytes);
void limits_release (Limits *limits, uid_t uid, guint64 bytes);
guint limits_pending (const Limits *limits, uid_t uid);
guint limits_pending_all (const Limits *limits);

/* Whose pause it is where it is nobody's: the denials themselves. */
#define PAUSE_BY_DENIALS ((uid_t) -1)

/* limits_denied: counts one denial; TRUE with the end of a pause that now begins. */
gboolean limits_denied (Limits *limits, uid_t uid, guint64 now, guint64 *out_until);

/* limits_pause: each person has one pause of an agent; @until 0 ends it. */
void limits_pause (Limits *limits, uid_t uid, uid_t by, guint64 until);
/* limits_paused: whether any pause lasts; @out_until is the end of the last one. */
gboolean limits_paused (const Limits *limits, uid_t uid, guint64 now, guint64 *out_until);
gboolean limits_paused_by (const Limits *limits, uid_t uid, uid_t by, guint64 now);

G_END_DECLS
