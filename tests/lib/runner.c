/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Starts a runner as a plain user and calls it as the executor does.  For tests only. */
#include "tests/lib/runner.h"

#include "service/base/fd.h"
#include "service/base/memfd.h"
#include "service/base/wire.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

Runner *
runner_new (void)
{
  Runner *runner = g_new0 (Runner, 1);

  runner->service = activated_new ();
  activated_add_second (runner->service);
  runner->module_dir = g_build_filename (runner->service->dir, "modules", NULL);
  runner->credentials_dir = g_build_filename (runner->service->dir, "credentials", NULL);
  runner->marker = g_build_filename (runner->service->dir, "marker", NULL);
  g_assert_cmpint (mkdir (runner->module_dir, 0755), ==, 0);
  g_assert_cmpint (mkdir (runner->credentials_dir, 0700), ==, 0);
  return runner;
}

void
runner_free (Runner *runner)
{
  activated_free (runner->service);
  g_free (runner->module_dir);
  g_free (runner->credentials_dir);
  g_free (runner->marker);
  g_free (runner);
}

static void
write_file (const char *path, const char *data, gsize len, mode_t mode)
{
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, data, (gssize) len, &error);
  g_assert_no_error (error);
  g_assert_cmpint (chmod (path, mode), ==, 0);
}

void
runner_install (Runner *runner, const char *object, const char *name)
{
  g_autofree char *file_name = g_strconcat (name, ".so", NULL);
  g_autofree char *path = g_build_filename (runner->module_dir, file_name, NULL);
  g_autofree char *content = NULL;
  g_autoptr (GError) error = NULL;
  gsize len = 0;

  g_file_get_contents (object, &content, &len, &error);
  g_assert_no_error (error);
  write_file (path, content, len, 0644);
}

void
runner_credential (Runner *runner, const char *name, const char *content)
{
  g_autofree char *path = g_build_filename (runner->credentials_dir, name, NULL);

  write_file (path, content, strlen (content), 0400);
}

void
runner_start (Runner *runner, const char *module, uid_t owner, uid_t peer, guint seconds)
{
  g_autofree char *owner_text = g_strdup_printf ("%u", owner);
  g_autofree char *peer_text = g_strdup_printf ("%u", peer);
  g_autofree char *seconds_text = g_strdup_printf ("%u", seconds);
  const char *argv[] = { g_getenv ("RUNNER_SERVICE"),
                         runner->module_dir,
                         module,
                         owner_text,
                         peer_text,
                         seconds_text,
                         NULL };
  g_autofree char *credentials =
      g_strconcat ("CREDENTIALS_DIRECTORY=", runner->credentials_dir, NULL);
  const char *env[] = { credentials, "LD_LIBRARY_PATH=/nonexistent", "HOSTILE=1", NULL };

  g_assert_nonnull (argv[0]);
  activated_start (runner->service, argv, env);
}

char *
runner_marker (Runner *runner)
{
  char *content = NULL;

  return g_file_get_contents (runner->marker, &content, NULL, NULL) ? content : g_strdup ("");
}

/* --- calls --- */

Call *
call_new (const char *action)
{
  Call *call = g_new0 (Call, 1);

  call->request = RUNNER_REQUEST;
  call->action = action;
  call->credential = "";
  g_variant_builder_init (&call->arguments, G_VARIANT_TYPE ("a(ssv)"));
  g_variant_builder_init (&call->settings, G_VARIANT_TYPE ("a(sss)"));
  g_variant_builder_init (&call->facts, G_VARIANT_TYPE ("a(ss)"));
  return call;
}

void
call_argument (Call *call, const char *name, const char *type, GVariant *value)
{
  g_variant_builder_add (&call->arguments, "(ssv)", name, type, value);
}

void
call_string (Call *call, const char *name, const char *type, const char *value)
{
  call_argument (call, name, type, g_variant_new_string (value));
}

void
call_strings (Call *call, const char *name, const char *type, const char *values)
{
  g_auto (GStrv) items = g_strsplit (values, " ", -1);

  call_argument (call, name, type, g_variant_new_strv ((const char *const *) items, -1));
}

int
call_file (Call *call, const void *data, gsize len)
{
  g_assert_cmpuint (call->n_fds, <, HANDOVER_MAX_FILES);
  call->fds[call->n_fds] = memfd_new_sealed ("test", data, len, NULL);
  return (int) call->n_fds++;
}

void
call_setting (Call *call, const char *name, const char *type, const char *value)
{
  g_variant_builder_add (&call->settings, "(sss)", name, type, value);
}

void
call_fact (Call *call, const char *name, const char *type)
{
  g_variant_builder_add (&call->facts, "(ss)", name, type);
}

GVariant *
call_end (Call *call)
{
  return g_variant_new (WIRE_MODULE_CALL, call->request, call->action, &call->arguments,
                        &call->settings, call->credential, &call->facts);
}

void
call_free (Call *call)
{
  for (guint i = 0; i < call->n_fds; i++)
    close (call->fds[i]);
  g_variant_builder_clear (&call->arguments);
  g_variant_builder_clear (&call->settings);
  g_variant_builder_clear (&call->facts);
  g_free (call);
}

static GStrv
facts_as_text (GVariant *facts)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (gsize i = 0; i < g_variant_n_children (facts); i++)
    {
      g_autofree char *text = NULL;
      const char *name = NULL;
      const char *value = NULL;

      g_variant_get_child (facts, i, "(&s&s)", &name, &value);
      text = g_strconcat (name, "=", value, NULL);
      g_strv_builder_add (builder, text);
    }
  return g_strv_builder_end (builder);
}

char *
runner_call (Runner *runner,
             HandoverKind kind,
             Call *call,
             char **out_result,
             GStrv *out_facts,
             GError **error)
{
  g_autoptr (Call) owned = g_steal_pointer (&call);
  g_autoptr (GVariant) facts = NULL;
  g_auto (Handover) reply = { 0 };
  g_autofree char *result = NULL;
  char *outcome = NULL;

  if (!handover_call (runner->service->path, kind, call_end (owned), owned->fds, owned->n_fds,
                      WIRE_MODULE_REPLY, &reply, NULL, error))
    return NULL;

  g_assert_cmpuint (reply.n_fds, ==, 0);
  g_variant_get (reply.body, "(s@a(ss)s)", &outcome, &facts, &result);
  if (out_result != NULL)
    *out_result = g_steal_pointer (&result);
  if (out_facts != NULL)
    *out_facts = facts_as_text (facts);
  return outcome;
}
