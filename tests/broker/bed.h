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

/* How long anything may take on the slowest machine; whoever waits this long waits for nothing. */
#define BED_PATIENCE 60 /* seconds */

/* bed_wait: until @test holds; aborts after BED_PATIENCE. */
void bed_wait (gboolean (*test) (gpointer data), gpointer data);

/*
 * bed_spin: lets the daemon run for so long.  Time for what must *not* happen; what must happen is
 * waited for.
 */
void bed_spin (guint milliseconds);

G_END_DECLS
