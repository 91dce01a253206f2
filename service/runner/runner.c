/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One worker: check and load the module, accept, take one call, make it, answer, end.  An error
 * reply and a "failed" from here both say that the module was not called; once it is called, only
 * what it returns counts, and an end of this process without an answer means unknown.
 */
#include "service/runner/runner.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/file.h"
#include "service/base/handover.h"
#include "service/base/prefork.h"
#include "service/base/wire.h"
#include "service/runner/handle.h"
#include "service/runner/module.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define CREDENTIAL_MAX (1024 * 1024) /* systemd's limit for all of a unit */
#define CREDENTIAL_MAX_NAME 64

static const char *const kept_variables[] = { "CREDENTIALS_DIRECTORY", "LISTEN_FDS", "LISTEN_PID" };

gboolean
environment_scrub (GError **error)
{
  char *values[G_N_ELEMENTS (kept_variables)] = { NULL };
  gboolean ok = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (kept_variables); i++)
    values[i] = g_strdup (getenv (kept_variables[i]));

  ok = clearenv () == 0 && chdir ("/") == 0;
  for (guint i = 0; i < G_N_ELEMENTS (kept_variables); i++)
    {
      if (values[i] != NULL)
        ok = setenv (kept_variables[i], values[i], 1) == 0 && ok;
      g_free (values[i]);
    }
  return ok || us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_INTERNAL,
                             "cannot clean the environment");
}

/* --- the credential --- */

/* As in policy: a name in a folder, never a path and never hidden. */
static gboolean
credential_name_is_valid (const char *name)
{
  gsize len = strlen (name);

  return len >= 1 && len <= CREDENTIAL_MAX_NAME && g_ascii_isalnum (name[0]) &&
         strspn (name, "abcdefghijklmnopqrstuvwxyz0123456789._-") == len &&
         strstr (name, "..") == NULL;
}

/* credential_open: a descriptor of what can be a credential, or -1. */
static int
credential_open (const RunnerConfig *config, const char *name, GError **error)
{
  struct stat info;
  autofd dir = -1;
  autofd fd = -1;

  if (config->credentials_dir == NULL || !credential_name_is_valid (name))
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_NOT_FOUND,
                    "this unit has no credential of that name");
      return -1;
    }

  dir = open (config->credentials_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (dir >= 0)
    fd = openat (dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0 || fstat (fd, &info) < 0 || !S_ISREG (info.st_mode))
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_NOT_FOUND,
                    "the credential %s cannot be opened", name);
      return -1;
    }
  if ((info.st_mode & (S_IWGRP | S_IRWXO)) != 0)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNTRUSTED_FILE,
                    "the credential %s is open to others", name);
      return -1;
    }
  return fd_steal (&fd);
}

static Secret *
credential_read (const RunnerConfig *config, const char *name, GError **error)
{
  autofd fd = credential_open (config, name, error);

  return fd >= 0 ? secret_new_read (fd, CREDENTIAL_MAX, error) : NULL;
}

/* credential_names: (transfer floating): of all that there are; nothing of them is read. */
static GVariant *
credential_names (const RunnerConfig *config)
{
  g_autoptr (GDir) dir =
      config->credentials_dir != NULL ? g_dir_open (config->credentials_dir, 0, NULL) : NULL;
  GVariantBuilder names;
  const char *name = NULL;

  g_variant_builder_init (&names, G_VARIANT_TYPE_STRING_ARRAY);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      autofd fd = credential_open (config, name, NULL);

      if (fd >= 0)
        g_variant_builder_add (&names, "s", name);
    }
  return g_variant_builder_end (&names);
}

void
runner_tell (int sock, gboolean impaired, gpointer data)
{
  const RunnerConfig *config = data;
  g_autoptr (GError) error = NULL;
  uid_t peer = (uid_t) -1;

  if (!handover_peer_uid (sock, &peer, &error))
    return;
  if (peer != config->peer)
    us_error_set (&error, US_ERROR_REFUSED, US_REASON_BAD_PEER, "user %u may not ask a runner", peer);
  else if (impaired)
    us_error_set (&error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE, "module %s cannot be loaded",
                  config->module);
  if (error != NULL)
    (void) handover_send_error (sock, error, NULL);
  else
    (void) handover_send (sock, HANDOVER_REPLY,
                          g_variant_new ("(@as)", credential_names (config)), NULL, 0, NULL);
}

/* --- the call --- */

/* A signal that no module can catch or block ends the process when its time is over. */
static gboolean
deadline_set (guint seconds)
{
  struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
  struct itimerspec when = { .it_value = { .tv_sec = seconds } };
  timer_t timer;

  return timer_create (CLOCK_BOOTTIME, &event, &timer) == 0 &&
         timer_settime (timer, 0, &when, NULL) == 0;
}

/* The executor sends one message and waits: a word more, or its end, and nobody hears the answer.
 */
static gboolean
peer_waits (int sock)
{
  struct pollfd polled = { .fd = sock, .events = POLLIN | POLLRDHUP };

  return poll (&polled, 1, 0) == 0;
}

static int
fail (us_sm_handle *handle, const char *text)
{
  us_sm_set_result (handle, text);
  return US_SM_FAILED;
}

/* call_make: a module that could not be loaded when this worker started gets a second chance. */
static int
call_make (
    const RunnerConfig *config, int sock, HandoverKind kind, Module *loaded, us_sm_handle *handle)
{
  gboolean describe = kind == HANDOVER_MODULE_DESCRIBE;
  const char *credential_name = handle_credential_name (handle);
  g_autoptr (GError) error = NULL;
  g_autoptr (Module) again = NULL;
  const Module *module = loaded;
  ModuleEntry entry = NULL;

  if (module == NULL)
    module = again = module_open (config->module_dir, config->module, config->owner, &error);
  if (module == NULL)
    {
      g_warning ("%s: %s", us_sm_request (handle), error->message);
      return fail (handle, "the module is not available");
    }
  entry = module_entry (module, describe ? "us_sm_describe" : "us_sm_execute");
  if (entry == NULL)
    return fail (handle, "the module cannot do this");

  if (*credential_name != '\0')
    {
      Secret *credential = credential_read (config, credential_name, &error);

      if (credential == NULL)
        {
          g_warning ("%s: %s", us_sm_request (handle), error->message);
          return fail (handle, "the credential is not available");
        }
      handle_take_credential (handle, credential);
    }

  if (!peer_waits (sock))
    return fail (handle, "the executor no longer waits");
  if (!deadline_set (describe ? config->describe_seconds : config->execute_seconds))
    return fail (handle, "no deadline can be set");
  return entry (handle);
}

/* message_receive: of the executor, not decoded yet. */
static gboolean
message_receive (const RunnerConfig *config, int sock, Handover *out_handover, int *out_body_fd,
                 GError **error)
{
  uid_t peer = (uid_t) -1;

  if (!handover_peer_uid (sock, &peer, error))
    return FALSE;
  if (peer != config->peer)
    {
      handover_discard (sock);
      us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_PEER, "user %u may not call a module",
                    peer);
      return FALSE;
    }
  return handover_receive (sock, out_handover, out_body_fd, error);
}

/* call_receive: a checked call, or NULL; nothing was done then. */
static us_sm_handle *
call_receive (Handover *handover, int body_fd, GError **error)
{
  if (handover->kind != HANDOVER_MODULE_DESCRIBE && handover->kind != HANDOVER_MODULE_EXECUTE)
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                    "a message of this kind is not for a runner");
      return NULL;
    }
  if (!handover_decode (handover, body_fd, WIRE_MODULE_CALL, error))
    return NULL;
  return handle_new (handover, error);
}

static gboolean
serve (const RunnerConfig *config, int sock, Module *module, GError **error)
{
  g_auto (Handover) handover = { 0 };
  g_autoptr (us_sm_handle) handle = NULL;
  autofd body_fd = -1;
  int code = US_SM_UNKNOWN;

  if (!message_receive (config, sock, &handover, &body_fd, error))
    {
      handover_send_error (sock, *error, NULL);
      return FALSE;
    }
  handle = call_receive (&handover, body_fd, error);
  if (handle == NULL)
    {
      handover_send_error (sock, *error, NULL);
      return FALSE;
    }

  code = call_make (config, sock, handover.kind, module, handle);
  handle_take_credential (handle, NULL);
  /* No error reply from here on: it would say that the module was not called. */
  return handover_send (sock, HANDOVER_REPLY,
                        handle_reply (handle, code, handover.kind == HANDOVER_MODULE_DESCRIBE),
                        NULL, 0, error);
}

int
runner_work (const RunnerConfig *config)
{
  g_autoptr (GError) load_error = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (Module) module = NULL;
  autofd sock = -1;

  module = module_open (config->module_dir, config->module, config->owner, &load_error);
  if (module == NULL)
    g_warning ("%s: %s", config->module, load_error->message);

  if (module != NULL || prefork_say_impaired (&error))
    sock = prefork_accept (&error);
  if (sock < 0 && error == NULL)
    return EXIT_SUCCESS;
  if (sock >= 0 && serve (config, sock, module, &error))
    return EXIT_SUCCESS;
  g_warning ("%s: %s", config->module, error->message);
  return EXIT_FAILURE;
}
