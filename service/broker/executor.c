/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The broker's end of the executor's socket.  It must never block, never call back from within a
 * call, and never take silence for an answer.
 */
#include "service/broker/executor.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Which kinds share places. */
typedef enum
{
  LANE_QUICK,   /* what a person or the start of a call waits for */
  LANE_ANSWER,  /* what a person has signed: one after the other, as their passkey counts */
  LANE_LOOK,    /* what a person may ask for as often as they like, and nothing waits for */
  LANE_PREPARE, /* may wait for a module's describe */
  LANE_EXECUTE, /* waits for a module */
  LANE_N
} Lane;

static const struct
{
  guint all;     /* at once */
  guint places;  /* of them for one module */
  guint each;    /* of those for one uid */
  guint seconds; /* from the call to the reply, waiting for a place included */
} lanes[LANE_N] = {
  [LANE_QUICK] = { 16, 16, 16, 20 },
  [LANE_ANSWER] = { 16, 16, 1, 20 },
  [LANE_LOOK] = { EXECUTOR_LOOKS, EXECUTOR_LOOKS, EXECUTOR_LOOKS_EACH, 20 },
  [LANE_PREPARE] = { EXECUTOR_SLOW_ALL, EXECUTOR_PREPARES, EXECUTOR_PREPARES_EACH,
                     HANDOVER_TIMEOUT },
  [LANE_EXECUTE] = { EXECUTOR_SLOW_ALL, EXECUTOR_EXECUTES, EXECUTOR_EXECUTES_EACH,
                     HANDOVER_TIMEOUT },
};

/* The backlog of the socket is full. */
#define RETRY (20 * 1000)

struct Executor
{
  char *path;
  GQueue calls[LANE_N];   /* ExecutorCall, oldest first, all of them */
  guint running[LANE_N];
};

typedef struct
{
  GSource source;
  Executor *executor;
  Lane lane;
  GList link; /* in executor->calls */

  HandoverKind kind;
  uid_t uid;
  char *module; /* "" for kinds that wait for none */
  GVariant *body;
  int fds[HANDOVER_MAX_FILES];
  guint n_fds;
  const char *reply_type, *second_type;
  ExecutorCallback callback;
  gpointer data;

  gint64 deadline; /* monotonic */
  gboolean is_running;
  int sock;
  gpointer tag; /* of the socket in the source */
} ExecutorCall;

static Lane
lane_of (HandoverKind kind)
{
  if (kind == HANDOVER_ANSWER)
    return LANE_ANSWER;
  if (kind == HANDOVER_RECEIPT || kind == HANDOVER_MAY_PAUSE)
    return LANE_LOOK;
  if (kind == HANDOVER_PREPARE)
    return LANE_PREPARE;
  if (kind == HANDOVER_EXECUTE)
    return LANE_EXECUTE;
  return LANE_QUICK;
}

static void
call_close_fds (ExecutorCall *call)
{
  for (guint i = 0; i < call->n_fds; i++)
    fd_clear (&call->fds[i]);
  call->n_fds = 0;
}

/* held_by: how many places this uid has with this module, and, in @out_module, all uids. */
static guint
held_by (Executor *executor, const ExecutorCall *of, guint *out_module)
{
  guint uid = 0;

  *out_module = 0;
  for (GList *l = executor->calls[of->lane].head; l != NULL; l = l->next)
    {
      const ExecutorCall *call = l->data;

      if (!call->is_running || strcmp (call->module, of->module) != 0)
        continue;
      (*out_module)++;
      uid += call->uid == of->uid;
    }
  return uid;
}

/* @out_held: (out): how many this uid has already */
static gboolean
lane_has_place (Executor *executor, const ExecutorCall *call, guint *out_held)
{
  guint module = 0;

  *out_held = held_by (executor, call, &module);
  /* The last places are for modules that have none: those that are busy hold up no other. */
  if (lanes[call->lane].places < lanes[call->lane].all && module > 0 &&
      executor->running[call->lane] >= lanes[call->lane].all - EXECUTOR_SLOW_FIRST)
    return FALSE;
  return executor->running[call->lane] < lanes[call->lane].all &&
         module < lanes[call->lane].places && *out_held < lanes[call->lane].each;
}

/* The oldest of those for whom there is a place and whose uid holds the fewest, or NULL: who has many
 * waiting is not served before who has one. */
static ExecutorCall *
lane_pick (Executor *executor, Lane lane)
{
  ExecutorCall *next = NULL;
  guint least = G_MAXUINT;

  for (GList *l = executor->calls[lane].head; l != NULL; l = l->next)
    {
      ExecutorCall *call = l->data;
      guint held = 0;

      if (!call->is_running && lane_has_place (executor, call, &held) && held < least)
        {
          least = held;
          next = call;
        }
    }
  return next;
}

/* Wakes whose turn it is. */
static void
lane_next (Executor *executor, Lane lane)
{
  ExecutorCall *next = lane_pick (executor, lane);

  if (next != NULL)
    g_source_set_ready_time (&next->source, 0);
}

static void
call_end (ExecutorCall *call)
{
  Executor *executor = call->executor;

  g_queue_unlink (&executor->calls[call->lane], &call->link);
  if (call->is_running)
    {
      call->is_running = FALSE;
      executor->running[call->lane]--;
    }
  lane_next (executor, call->lane);
  if (call->tag != NULL)
    g_source_remove_unix_fd (&call->source, call->tag);
  call->tag = NULL;
  fd_clear (&call->sock);
  g_source_destroy (&call->source);
}

static void
call_fail (ExecutorCall *call, const GError *error)
{
  call_end (call);
  call->callback (NULL, error, call->data);
}

/* TRUE where it is connected; FALSE without an error: try again. */
static gboolean
call_connect (ExecutorCall *call, GError **error)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };

  if (strlen (call->executor->path) >= sizeof address.sun_path)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                         "the path of the executor's socket is too long");
  strcpy (address.sun_path, call->executor->path);

  if (call->sock < 0)
    call->sock = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (call->sock >= 0 &&
      connect (call->sock, (const struct sockaddr *) &address, sizeof address) == 0)
    return TRUE;
  if (call->sock >= 0 && (errno == EAGAIN || errno == EINTR))
    return FALSE;
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                       "cannot connect to the executor: %s", g_strerror (errno));
}

/* Takes a place, connects and sends. */
static gboolean
call_start (ExecutorCall *call, GError **error)
{
  g_autoptr (GError) local = NULL;

  if (!call->is_running)
    {
      if (lane_pick (call->executor, call->lane) != call)
        {
          /* one that waits longer may have been woken in this very turn */
          g_source_set_ready_time (&call->source, call->deadline);
          lane_next (call->executor, call->lane);
          return TRUE;
        }
      call->is_running = TRUE;
      call->executor->running[call->lane]++;
      /* of two that ended in one turn, both woke this call */
      lane_next (call->executor, call->lane);
    }

  if (!call_connect (call, &local))
    {
      if (local != NULL)
        {
          g_propagate_error (error, g_steal_pointer (&local));
          return FALSE;
        }
      g_source_set_ready_time (&call->source,
                               MIN (call->deadline, g_get_monotonic_time () + RETRY));
      return TRUE;
    }

  if (!handover_send (call->sock, call->kind, call->body, call->fds, call->n_fds, error))
    return FALSE;
  call_close_fds (call);
  g_clear_pointer (&call->body, g_variant_unref);
  call->tag = g_source_add_unix_fd (&call->source, call->sock, G_IO_IN | G_IO_HUP | G_IO_ERR);
  g_source_set_ready_time (&call->source, call->deadline);
  return TRUE;
}

static void
call_receive (ExecutorCall *call)
{
  g_auto (Handover) reply = { 0 };
  g_autoptr (GError) error = NULL;

  if (!handover_receive_reply (call->sock, call->reply_type, &reply, &error))
    {
      call_fail (call, error);
      return;
    }

  if (call->second_type == NULL)
    {
      call_end (call);
      call->callback (&reply, NULL, call->data);
      return;
    }

  call->reply_type = call->second_type;
  call->second_type = NULL;
  call->deadline = g_get_monotonic_time () + HANDOVER_TIMEOUT * G_USEC_PER_SEC;
  g_source_set_ready_time (&call->source, call->deadline);
  call->callback (&reply, NULL, call->data);
}

static gboolean
call_dispatch (GSource *source, GSourceFunc callback, gpointer data)
{
  ExecutorCall *call = (ExecutorCall *) source;
  g_autoptr (GError) error = NULL;

  if (call->tag != NULL && g_source_query_unix_fd (source, call->tag) != 0)
    {
      call_receive (call);
      return G_SOURCE_CONTINUE; /* a call that is over has destroyed its source */
    }
  if (g_get_monotonic_time () >= call->deadline)
    us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                  "the executor did not answer in time");
  else if (call->tag == NULL)
    call_start (call, &error);

  if (error != NULL)
    call_fail (call, error);
  return G_SOURCE_CONTINUE;
}

static void
call_finalize (GSource *source)
{
  ExecutorCall *call = (ExecutorCall *) source;

  call_close_fds (call);
  g_clear_pointer (&call->body, g_variant_unref);
  g_free (call->module);
}

static GSourceFuncs call_functions = {
  .dispatch = call_dispatch,
  .finalize = call_finalize,
};

Executor *
executor_new (const char *path)
{
  Executor *executor = g_new0 (Executor, 1);

  executor->path = g_strdup (path);
  for (guint i = 0; i < LANE_N; i++)
    g_queue_init (&executor->calls[i]);
  return executor;
}

void
executor_free (Executor *executor)
{
  g_autoptr (GError) error = NULL;

  if (executor == NULL)
    return;
  us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE, "the service is ending");
  for (guint i = 0; i < LANE_N; i++)
    while (executor->calls[i].head != NULL)
      {
        ExecutorCall *call = executor->calls[i].head->data;

        g_source_ref (&call->source);
        call_fail (call, error);
        g_source_unref (&call->source);
        i = 0; /* it may have begun a call of another lane */
      }
  g_free (executor->path);
  g_free (executor);
}

void
executor_call_module (Executor *executor,
                      HandoverKind kind,
                      uid_t agent,
                      const char *module,
                      GVariant *body,
                      const int *fds,
                      guint n_fds,
                      const char *reply_type,
                      const char *second_type,
                      ExecutorCallback callback,
                      gpointer data)
{
  GSource *source = g_source_new (&call_functions, sizeof (ExecutorCall));
  ExecutorCall *call = (ExecutorCall *) source;

  g_assert (n_fds <= HANDOVER_MAX_FILES);
  call->executor = executor;
  call->lane = lane_of (kind);
  call->kind = kind;
  call->uid = agent;
  call->module = g_strdup (module);
  call->body = g_variant_ref_sink (body);
  call->reply_type = reply_type;
  call->second_type = second_type;
  call->callback = callback;
  call->data = data;
  call->sock = -1;
  call->deadline = g_get_monotonic_time () + lanes[call->lane].seconds * G_USEC_PER_SEC;
  /* A descriptor that can't be kept is sent as -1, which fails the call when it is sent. */
  for (guint i = 0; i < n_fds; i++)
    call->fds[call->n_fds++] = fcntl (fds[i], F_DUPFD_CLOEXEC, 3);

  call->link.data = call;
  g_queue_push_tail_link (&executor->calls[call->lane], &call->link);
  g_source_set_ready_time (source, 0);
  g_source_attach (source, NULL);
  g_source_unref (source);
}

void
executor_call (Executor *executor,
               HandoverKind kind,
               uid_t uid,
               GVariant *body,
               const int *fds,
               guint n_fds,
               const char *reply_type,
               const char *second_type,
               ExecutorCallback callback,
               gpointer data)
{
  executor_call_module (executor, kind, uid, "", body, fds, n_fds, reply_type, second_type,
                        callback, data);
}

gboolean
executor_error_is_silence (const GError *error)
{
  return error->domain != US_ERROR || error->code == US_ERROR_UNAVAILABLE;
}
