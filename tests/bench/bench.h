/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What tests/bench/run measures, one function for each.  A measure is told how often, and adds that
 * many times in microseconds; between two of them it rests, so that a call is one person's and finds
 * what waits for it ready.  Whatever does not work ends the program: there is no half a figure.
 */
#pragma once

#include <gio/gio.h>
#include <glib.h>

#define BENCH_SERVICE "org.undersign1.Bench"
#define BENCH_PATH "/org/undersign1/Bench"
#define BENCH_ACTION "bench.run"
#define BENCH_DENIED "bench.denied"
#define BENCH_ARGUMENTS 12
#define BENCH_VALUE 80 /* bytes of each argument */

typedef struct
{
  guint n;
  guint rest;     /* microseconds between two */
  GArray *times;  /* double, microseconds */
  GArray *more;   /* double: of a measure with two clocks, the later one */
} Series;

/* series_clock: microseconds, monotonic, of nanosecond resolution. */
double series_clock (void);
void series_add (Series *series, double since);
void series_rest (const Series *series);

/* floor.c: what the work is made of, without any of ours. */
void floor_commit (Series *series);
void floor_verify (Series *series);
void floor_spawn (Series *series);
void floor_sudo (Series *series);
void floor_pkexec (Series *series);

/* library.c: in one process, no bus */
void library_record (Series *series);
void library_audit (Series *series); /* more: SHA-256 of as many bytes */

/* call.c: over the bus, as an agent */
void call_empty (Series *series);
void call_submit (Series *series);   /* stays pending */
void call_withdraw (Series *series); /* whatever this process has pending */
void call_forget (Series *series);   /* what somebody else has ended */
void call_denied (Series *series);   /* by a rule */
void call_unknown (Series *series);  /* an action that there is not */
/* call_arguments: (transfer floating): a{sv} of 12 values of 80 bytes, each time others. */
GVariant *call_arguments (void);
GVariant *call_service (const char *path, const char *interface, const char *member, GVariant *body);
/* call_serve: answers BENCH_SERVICE and does nothing; never returns. */
void call_serve (void);

/* crowd.c: 32 agents at once; one time for all calls of all.  */
void crowd_start (void);
void crowd_empty (Series *series);
void crowd_submit (Series *series);
void crowd_withdraw (Series *series);

/* person.c: an approver; person_start() enrols a passkey as root and becomes that person. */
void person_start (void);
void person_approve (Series *series); /* each card that waits; more: until the module was entered */
void person_pass_over (Series *series); /* those that wait now are not approved, ever */
