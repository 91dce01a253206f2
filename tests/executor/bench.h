/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An executor in this process, as a plain user, and a runner that counts what it is told to do.
 * Every hand-over is served by an Executor of its own, as a worker would.
 */
#pragma once

#include "service/executor/executor.h"
#include "tests/executor/client.h"
#include "tests/policy/set.h"

#include <glib.h>

typedef struct
{
  Client client;
  char *root, *state, *runtime, *runner, *attestation;
  Set *set;
  ExecutorConfig config;
  int image_fd, lease_fd;
  int peer; /* the executor's end of the connection that is under way */
  guint reloads;

  GThread *thread, *teller;
  int listen_fd, tell_fd;
  GMutex lock;
  /* under the lock: how the runner behaves, and what it saw */
  const char *behaviour; /* "done", "failed", "unknown", "error", "garbage", "files", "close" */
  char *manager, *known; /* the facts it gives */
  const char *lacks; /* (nullable): the credential that it does not have */
  gboolean impaired; /* its module cannot be loaded */
  guint executed, described, told;
  GVariant *call; /* the last one */
} Bench;

#define BENCH_HOST "0123456789abcdef0123456789abcdef"

void bench_set_up (Bench *bench, gconstpointer data);
void bench_tear_down (Bench *bench, gconstpointer data);
#define bench_test(path, function)                                                                 \
  g_test_add (path, Bench, NULL, bench_set_up, function, bench_tear_down)

/* bench_policy: replaces or takes away one file and loads the set anew. */
void bench_policy (Bench *bench, const char *name, const char *text);
/* bench_ledger: the ledger itself, for what no message does; closed by the caller. */
Ledger *bench_ledger (Bench *bench);
guint bench_executed (Bench *bench);
/* bench_listen: a listening socket of that name in @folder. */
int bench_listen (const char *folder, const char *name, int backlog);
void bench_behave (Bench *bench, const char *behaviour);
/* bench_fact: what the runner gives for "known" from now on. */
void bench_fact (Bench *bench, const char *known);

/* A request for mail.send to one recipient in the company: rule "mail", one of @hr or @it-leads. */
Request *bench_mail (Bench *bench);
