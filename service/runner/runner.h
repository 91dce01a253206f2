/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign-runner(8): loads one module into a process of its own, makes one call of it and ends.
 * What differs between a system and a test is in the configuration; main.c fills it from config.h.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

typedef struct
{
  const char *module_dir;      /* absolute; the one folder that modules are loaded from */
  const char *module;          /* [a-z][a-z0-9-]*, at most 32 bytes */
  uid_t owner;                 /* of that folder and of the modules in it */
  uid_t peer;                  /* the only user whose calls are taken */
  const char *credentials_dir; /* (nullable): absolute; see systemd.exec(5), LoadCredential= */
  guint describe_seconds;      /* after which a call is ended; its outcome is then unknown */
  guint execute_seconds;
} RunnerConfig;

/* Less than the executor waits, so that it hears of an end rather than guesses one. */
#define RUNNER_DESCRIBE_SECONDS 20
#define RUNNER_EXECUTE_SECONDS 80
#define RUNNER_MAX_WORKERS 8
#define RUNNER_READY_WORKERS 2 /* of them: so that none has to be started while one is called */

/* module_name_is_valid: whether @name can be a module's. */
gboolean module_name_is_valid (const char *name);

/*
 * runner_work: the life of one worker.
 * Returns: the exit status for main().
 */
int runner_work (const RunnerConfig *config);

/*
 * runner_tell: what the listener says to the executor, and to nobody else; for prefork_run().
 * @config: a RunnerConfig: module, peer and credentials_dir
 */
void runner_tell (int sock, gboolean impaired, gpointer config);

/*
 * environment_scrub: leaves CREDENTIALS_DIRECTORY and what sd_listen_fds(3) reads, and goes to /.
 * Call it before anything else: no library may see another variable.
 */
gboolean environment_scrub (GError **error);

G_END_DECLS
