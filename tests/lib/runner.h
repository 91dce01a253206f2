/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A runner with its own folders of modules and credentials, and the executor's side of its calls.
 */
#pragma once

#include "service/base/handover.h"
#include "tests/lib/activated.h"

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

#define RUNNER_REQUEST "0123456789abcdef0123456789abcdef"

typedef struct
{
  Activated *service;
  char *module_dir;
  char *credentials_dir;
  char *marker; /* path of a file that is not there yet */
} Runner;

Runner *runner_new (void);
void runner_free (Runner *runner);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Runner, runner_free)

/* runner_install: copies @object, a path, as NAME.so with mode 0644. */
void runner_install (Runner *runner, const char *object, const char *name);
/* runner_credential: a file of mode 0400. */
void runner_credential (Runner *runner, const char *name, const char *content);

/*
 * runner_start: runs the program that $RUNNER_SERVICE names.
 * @owner, @peer: what it takes for the owner of modules and for the executor
 * @seconds: its deadline
 */
void runner_start (Runner *runner, const char *module, uid_t owner, uid_t peer, guint seconds);

/* runner_marker: the content of the marker file, "" where there is none. */
char *runner_marker (Runner *runner);

/* One call, built in steps. */
typedef struct
{
  const char *request;
  const char *action;
  const char *credential;
  GVariantBuilder arguments;
  GVariantBuilder settings;
  GVariantBuilder facts;
  int fds[HANDOVER_MAX_FILES];
  guint n_fds;
} Call;

Call *call_new (const char *action);
void call_argument (Call *call, const char *name, const char *type, GVariant *value);
void call_string (Call *call, const char *name, const char *type, const char *value);
/* call_strings: @values is separated by spaces. */
void call_strings (Call *call, const char *name, const char *type, const char *values);
/* call_file: keeps a sealed copy.  Returns: its handle. */
int call_file (Call *call, const void *data, gsize len);
void call_setting (Call *call, const char *name, const char *type, const char *value);
void call_fact (Call *call, const char *name, const char *type);
/* call_end: the body; the call then has only its files. */
GVariant *call_end (Call *call);
void call_free (Call *call);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Call, call_free)

/*
 * runner_call: makes @call, which is (transfer full).
 * @out_facts: (out) (optional): "name=value" of each
 * Returns: (transfer full) (nullable): "done", "failed" or "unknown"; NULL with the runner's error,
 * or with reason unreachable where it ended without an answer.
 */
char *runner_call (Runner *runner,
                   HandoverKind kind,
                   Call *call,
                   char **out_result,
                   GStrv *out_facts,
                   GError **error);

G_END_DECLS
