/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a polkit-guarded mechanism is, whatever it does: it owns a name on the system bus, holds
 * each call against its table, has the bus say who calls and polkit whether they may, and ends when
 * idle. A member that is not in the table does not exist.
 */
#pragma once

#include <gio/gio.h>
#include <sys/types.h>

G_BEGIN_DECLS

typedef struct Mechanism Mechanism;
typedef struct MechanismCall MechanismCall;
typedef struct MechanismMember MechanismMember;

/* What polkit is asked. */
typedef struct
{
  const char *action; /* static */
  GVariant *details;  /* (nullable): a{ss}, floating; a rule and the question to a person see it */
} MechanismQuestion;

struct MechanismMember
{
  const char *name;
  const char *signature; /* of the body, "()" for none */
  const char *action;    /* the polkit action; NULL where @ask chooses it */
  /* TRUE: an earlier call of the same caller was authorised and this one is bound to it */
  gboolean bound;
  /* (nullable): reads the values, which are nobody's yet, and chooses the question */
  gboolean (*ask) (MechanismCall *call, MechanismQuestion *out, GError **error);
  /*
   * polkit has said yes: does it, and returns the body of the reply, floating or the caller's own;
   * NULL with a US_ERROR otherwise.  NULL without one after mechanism_call_defer().
   */
  GVariant *(*handler) (MechanismCall *call, GError **error);
};

/* One method call. */
struct MechanismCall
{
  Mechanism *mechanism;
  const MechanismMember *member;
  GVariant *body;     /* of the member's signature */
  GUnixFDList *fds;   /* (nullable) */
  const char *sender; /* unique name */
  gboolean has_uid;
  uid_t uid;     /* of the sender, as the bus says */
  gpointer data; /* (nullable): of the member: what @ask leaves for @handler */
  GDestroyNotify data_free;
};

typedef struct
{
  const char *address; /* (nullable): of the bus; NULL is the system bus */
  const char *name;
  const char *path;
  /* NULL for anything that is not in the table */
  const MechanismMember *(*find) (const char *interface, const char *member);
  guint body_max, fds_max;   /* of one call */
  guint authorise_seconds;   /* how long polkit may take without a person */
  guint interactive_seconds; /* and with one */
  guint idle_seconds;
  gboolean (*busy) (gpointer data); /* (nullable): whether it must not end although nobody calls */
  /* (nullable): the name is its own, and no call is handled yet */
  void (*begins) (gpointer data);
  /* (nullable): it ends: what was deferred and could take long is to be answered now */
  void (*ends) (gpointer data);
  gpointer data;
} MechanismConfig;

/* What all calls without an answer may have together. */
#define MECHANISM_CALLS_MAX 256
#define MECHANISM_BYTES_MAX (1024 * 1024)
#define MECHANISM_FDS_MAX 128

/*
 * mechanism_may_serve: what a program of that name is to do by its command line, which may say
 * --help or --version and nothing else.  From then on a peer that has left is an error, not a signal.
 *
 * Returns: FALSE where it is to exit, with @out_status.
 */
gboolean mechanism_may_serve (int argc, char **argv, const char *program, int *out_status);

/* mechanism_new: connects; nothing is answered before mechanism_serve(). */
Mechanism *mechanism_new (const MechanismConfig *config, GError **error);
GDBusConnection *mechanism_bus (Mechanism *mechanism); /* borrowed */
gpointer mechanism_data (Mechanism *mechanism);        /* of the config */

/* mechanism_serve: until idle, SIGTERM, or the name is lost; what polkit has not answered by then
 * is denied.  Returns the exit status. */
int mechanism_serve (Mechanism *mechanism);

/* mechanism_free: closes the connection. */
void mechanism_free (Mechanism *mechanism);

/* mechanism_hear: small signals of @sender, a unique name, pass from now on, those of an earlier
 * one no more; NULL for none. */
void mechanism_hear (Mechanism *mechanism, const char *sender);

/* mechanism_call_defer: the answer comes later, by mechanism_call_answer(). */
void mechanism_call_defer (MechanismCall *call);

/*
 * mechanism_call_answer: frees @call.
 * @body: (nullable): (transfer full): floating, or the caller's own; NULL with @error
 * @fds: (nullable): that go with it
 */
void
mechanism_call_answer (MechanismCall *call, GVariant *body, GUnixFDList *fds, const GError *error);

G_END_DECLS
