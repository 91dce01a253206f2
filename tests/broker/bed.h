/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The broker on a bus of its own, with a fake executor, in one process and as a plain user.  Which
 * uid a connection stands for is the test's word.
 */
#pragma once

#include "service/broker/broker.h"
#include "tests/broker/fake.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct
{
  GPid bus_pid;
  char *address; /* of the bus */
  Fake *fake;
  char *dir;
  Broker *broker;
  GHashTable *uids; /* unique name → uid */
  gboolean stopped;
} Bed;

void bed_set_up (Bed *bed, gconstpointer config); /* text of undersign.conf, or NULL */
void bed_tear_down (Bed *bed, gconstpointer config);
#define bed_test(path, config, function)                                                           \
  g_test_add (path, Bed, config, bed_set_up, function, bed_tear_down)

void bed_stop (Bed *bed);
void bed_start (Bed *bed);
/* bed_try_start: FALSE where the daemon does not start; bed->broker is NULL then. */
gboolean bed_try_start (Bed *bed, GError **error);

/* A connection of somebody. */
typedef struct
{
  Bed *bed;
  GDBusConnection *connection;
  GString *heard; /* signals, as "CardAdded PATH\n" */
} Caller;

Caller *bed_caller (Bed *bed, uid_t uid);
void caller_free (Caller *caller);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Caller, caller_free)

/* caller_call: the reply, or NULL with an error of US_ERROR. */
GVariant *caller_call (Caller *caller,
                       const char *path,
                       const char *interface,
                       const char *member,
                       GVariant *parameters,
                       GError **error);
GVariant *caller_call_with_fds (Caller *caller,
                                const char *path,
                                const char *interface,
                                const char *member,
                                GVariant *parameters,
                                GUnixFDList *fds,
                                GUnixFDList **out_fds,
                                GError **error);

/* A call that is under way. */
typedef struct
{
  gboolean done;
  GVariant *reply;
  GError *error;
} Pending;

void pending_clear (Pending *pending);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pending, pending_clear)
void caller_begin (Caller *caller,
                   const char *path,
                   const char *interface,
                   const char *member,
                   GVariant *parameters,
                   Pending *pending);
void pending_wait (Pending *pending);

/* bed_wait: until @test holds; aborts after ten seconds. */
void bed_wait (gboolean (*test) (gpointer data), gpointer data);
void bed_spin (guint milliseconds);

/* --- what most tests do --- */

char *caller_open_run (Caller *caller, const char *label);
/* caller_submit: mail.send to @to; the path.  @options may be NULL; aborts on error. */
char *caller_submit (Caller *caller, const char *run, const char *to, const char *options);
GVariant *mail_parameters (const char *run, const char *to, const char *options);
/* caller_state: the state; @out_details (nullable). */
char *caller_state (Caller *caller, const char *path, GVariant **out_details);
/* caller_answer: fetches a statement and approves with @signature. */
gboolean caller_approve (Caller *caller,
                         const char *path,
                         const char *credential,
                         const char *signature,
                         char **out_state,
                         GError **error);
gboolean caller_deny (Caller *caller, const char *path, const char *reason, GError **error);
/* details_get: a string member of GetState()'s details. */
char *details_get (GVariant *details, const char *key);
/* wait_state: until the request is in this state. */
void wait_state (Caller *caller, const char *path, const char *state);

G_END_DECLS
