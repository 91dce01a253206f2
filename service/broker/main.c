/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersignd, the broker: owns org.undersign1, keeps requests and passes them on.  It holds no key,
 * no credential and no privilege, and decides nothing.
 */
#include "config.h"

#include "service/base/usage.h"
#include "service/broker/daemon.h"

#include <errno.h>
#include <glib-unix.h>
#include <sys/prctl.h>
#include <sys/stat.h>

typedef struct
{
  GMainLoop *loop;
  int status;
} Program;

static gboolean
asked_to_end (gpointer data)
{
  Program *program = data;

  g_main_loop_quit (program->loop);
  return G_SOURCE_CONTINUE;
}

static void
stopped (gpointer data)
{
  Program *program = data;

  program->status = 1;
  g_main_loop_quit (program->loop);
}

/* The unit does the rest; the descriptors of many files have to fit, so there is no limit on them
 * here. */
static gboolean
harden (void)
{
  umask (077);
  return prctl (PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

static int
run (Program *program)
{
  const DaemonParameters parameters = {
    .executor_socket = UNDERSIGN_RUNTIME_DIR "/executor.sock",
    .state_dir = UNDERSIGN_STATE_DIR,
    .config_dir = UNDERSIGN_CONFIG_DIR,
    .config_owner = 0,
    .names = &policy_names_system,
    .reach_period = 60,
    .register_wait = 5,
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (Broker) broker = daemon_new (&parameters, stopped, program, &error);

  if (broker == NULL)
    {
      g_printerr ("undersignd: %s\n", error->message);
      return 1;
    }
  g_unix_signal_add (SIGTERM, asked_to_end, program);
  g_unix_signal_add (SIGINT, asked_to_end, program);
  g_main_loop_run (program->loop);
  return program->status;
}

int
main (int argc, char *argv[])
{
  Program program = { NULL, 0 };

  if (usage_served (argc, argv, "undersignd", "undersignd", argc == 1, &program.status))
    return program.status;
  if (!harden ())
    {
      g_printerr ("undersignd: cannot give up privileges: %s\n", g_strerror (errno));
      return 1;
    }

  program.loop = g_main_loop_new (NULL, FALSE);
  program.status = run (&program);
  g_main_loop_unref (program.loop);
  return program.status;
}
