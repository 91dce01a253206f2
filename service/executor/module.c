/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The call is built from the checked values, never from what the agent sent: a module sees every
 * argument and setting of its action, defaults filled in, and the very descriptors that were
 * hashed.  The line between failed and unknown is the moment at which the packet has left: before
 * it nothing can have happened, after it anything may have.
 */
#include "service/executor/module.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define RESULT_MAX 1000 /* bytes, as undersign-module.h says */

static char *
runner_path (Executor *executor, const PolicyAction *action)
{
  return g_strdup_printf ("%s/%s.sock", executor->config->runner_dir, action->module);
}

/* Where the runner says at once what it has, however busy the module is. */
static char *
state_path (Executor *executor, const PolicyAction *action)
{
  return g_strdup_printf ("%s/%s.state", executor->config->runner_dir, action->module);
}

/* file_handle: a descriptor with this content that no other file of the call has: each stands once.
 */
static gint32
file_handle (const Proposal *proposal, const JsonTree *file, gboolean *used)
{
  const char *sha256 = json_tree_get_string (file, "sha256");

  for (guint i = 0; i < proposal->n_fds; i++)
    {
      g_autofree char *text = digest_to_string (proposal->files[i].sha256);

      if (used[i] || g_strcmp0 (sha256, strchr (text, ':') + 1) != 0)
        continue;
      used[i] = TRUE;
      return (gint32) i;
    }
  g_assert_not_reached ();
}

static GVariant *
files_variant (const Proposal *proposal, const JsonTree *value, gboolean *used)
{
  GVariantBuilder builder;
  gboolean list = json_tree_kind (value) == JSON_TREE_ARRAY;
  guint n = list ? json_tree_length (value) : 1;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(sh)"));
  for (guint i = 0; i < n; i++)
    {
      const JsonTree *file = list ? json_tree_item (value, i) : value;

      g_variant_builder_add (&builder, "(sh)", json_tree_get_string (file, "name"),
                             file_handle (proposal, file, used));
    }
  return g_variant_builder_end (&builder);
}

static GVariant *
strings_variant (const JsonTree *value)
{
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE_STRING_ARRAY);
  for (guint i = 0; i < json_tree_length (value); i++)
    g_variant_builder_add (&builder, "s", json_tree_string (json_tree_item (value, i)));
  return g_variant_builder_end (&builder);
}

static GVariant *
value_variant (const Proposal *proposal, const Type *type, const JsonTree *value, gboolean *used)
{
  gboolean yes = FALSE;

  switch (type_wire (type))
    {
    case TYPE_WIRE_BOOLEAN:
      json_tree_boolean (value, &yes);
      return g_variant_new_boolean (yes);
    case TYPE_WIRE_STRINGS:
      return strings_variant (value);
    case TYPE_WIRE_FILE:
    case TYPE_WIRE_FILES:
      return files_variant (proposal, value, used);
    case TYPE_WIRE_STRING:
    default:
      return g_variant_new_string (json_tree_string (value));
    }
}

static GVariant *
call_new (const Proposal *proposal, const char *credential)
{
  const PolicyAction *action = proposal->action;
  GVariantBuilder arguments, settings, facts;
  gboolean used[HANDOVER_MAX_FILES] = { FALSE };

  g_variant_builder_init (&arguments, G_VARIANT_TYPE ("a(ssv)"));
  for (guint i = 0; i < action->arguments->len; i++)
    {
      const PolicyArgument *argument = g_ptr_array_index (action->arguments, i);

      g_variant_builder_add (
          &arguments, "(ssv)", argument->name, type_name (argument->type),
          value_variant (proposal, argument->type, g_ptr_array_index (proposal->values, i), used));
    }

  g_variant_builder_init (&settings, G_VARIANT_TYPE ("a(sss)"));
  for (guint i = 0; i < action->settings->len; i++)
    {
      const PolicySetting *setting = g_ptr_array_index (action->settings, i);

      /* a setting is always one text, which is why a manifest can have no other */
      g_variant_builder_add (&settings, "(sss)", setting->name, type_name (setting->type),
                             json_tree_string (setting->value));
    }

  g_variant_builder_init (&facts, G_VARIANT_TYPE ("a(ss)"));
  for (guint i = 0; i < action->facts->len; i++)
    {
      const PolicyFact *fact = g_ptr_array_index (action->facts, i);

      g_variant_builder_add (&facts, "(ss)", fact->name, type_name (fact->type));
    }
  return g_variant_new (WIRE_MODULE_CALL, proposal->id, action->id, &arguments, &settings,
                        credential != NULL ? credential : "", &facts);
}

GVariant *
module_describe (Executor *executor, const Proposal *proposal, GError **error)
{
  const PolicyAction *action = proposal->action;
  g_autofree char *path = runner_path (executor, action);
  g_autoptr (GVariant) facts = NULL;
  g_auto (Handover) reply = { 0 };
  autofd sock = -1;
  const char *outcome = NULL;
  const char *result = NULL;

  if (action->facts->len == 0)
    return g_variant_ref_sink (g_variant_new_array (G_VARIANT_TYPE ("(ss)"), NULL, 0));

  sock = handover_connect (path, executor->config->describe_timeout, error);
  if (sock < 0 ||
      !handover_send (sock, HANDOVER_MODULE_DESCRIBE, call_new (proposal, action->read_credential),
                      proposal->fds, proposal->n_fds, error) ||
      !handover_receive_reply (sock, WIRE_MODULE_REPLY, &reply, error))
    return NULL;

  g_variant_get (reply.body, "(&s@" WIRE_FACTS "&s)", &outcome, &facts, &result);
  if (strcmp (outcome, "done") != 0)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_FACTS,
                    "module %s could not describe %s: %s", action->module, action->id, result);
      return NULL;
    }
  if (g_variant_n_children (facts) != action->facts->len)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_FACTS,
                    "module %s gave %u facts, action %s has %u", action->module,
                    (guint) g_variant_n_children (facts), action->id, action->facts->len);
      return NULL;
    }
  return g_steal_pointer (&facts);
}

/* state_receive: *@out_state stays NULL, without an error, where the runner does not say it in time. */
static gboolean
state_receive (Executor *executor, const PolicyAction *action, GVariant **out_state, GError **error)
{
  guint seconds = executor->config->check_timeout;
  g_autofree char *path = state_path (executor, action);
  g_auto (Handover) reply = { 0 };
  struct pollfd polled = { .fd = -1, .events = POLLIN };
  gboolean full = FALSE;
  autofd sock = handover_connect_now (path, seconds, &full, error);

  if (sock < 0 && !full)
    {
      g_autofree char *about = g_strdup_printf ("module %s has no runner", action->module);

      us_error_about (error, about);
    }
  if (sock < 0)
    return full;
  polled.fd = sock;
  if (poll (&polled, 1, (int) seconds * 1000) == 0)
    return TRUE;
  if (!handover_receive_reply (sock, WIRE_MODULE_STATE, &reply, error))
    return FALSE;
  *out_state = g_variant_ref (reply.body);
  return TRUE;
}

gboolean
module_check (Executor *executor, const PolicyAction *action, GError **error)
{
  g_autoptr (GVariant) state = NULL;
  g_autofree const char **credentials = NULL;

  if (!state_receive (executor, action, &state, error))
    return FALSE;
  if (state == NULL || action->credential[0] == '\0')
    return TRUE;
  g_variant_get (state, "(^a&s)", &credentials);
  return g_strv_contains ((const char *const *) credentials, action->credential) ||
         us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_NO_CREDENTIAL,
                       "module %s does not have the credential %s", action->module,
                       action->credential);
}

static const char *
outcome_read (const Handover *reply, char **out_result)
{
  static const char *const words[] = { "done", "failed", "unknown" };
  g_autoptr (GVariant) facts = NULL;
  const char *outcome = NULL;
  const char *result = NULL;

  g_variant_get (reply->body, "(&s@" WIRE_FACTS "&s)", &outcome, &facts, &result);
  if (reply->n_fds == 0 && g_variant_n_children (facts) == 0 && strlen (result) <= RESULT_MAX)
    for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
      if (strcmp (outcome, words[i]) == 0)
        {
          *out_result = g_strdup (result);
          return words[i];
        }
  *out_result = g_strdup ("the module's reply is not of the fixed form");
  return "unknown";
}

/* reply_receive: *@out_refusal is set where the runner says that it did not call the module. */
static gboolean
reply_receive (int sock, Handover *out_reply, char **out_refusal, GError **error)
{
  g_auto (Handover) reply = { 0 };
  autofd body_fd = -1;
  const char *message = NULL;

  if (!handover_receive (sock, &reply, &body_fd, error))
    return FALSE;
  if (reply.kind == HANDOVER_ERROR && reply.n_fds == 0)
    {
      if (!handover_decode (&reply, body_fd, WIRE_ERROR, error))
        return FALSE;
      g_variant_get (reply.body, "(&s&s)", NULL, &message);
      if (strlen (message) > RESULT_MAX)
        return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                             "the runner's reason has more than %d bytes", RESULT_MAX);
      *out_refusal = g_strdup (message);
      return TRUE;
    }
  if (reply.kind != HANDOVER_REPLY)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MESSAGE,
                         "the runner sent something else than a reply");
  if (!handover_decode (&reply, body_fd, WIRE_MODULE_REPLY, error))
    return FALSE;
  *out_reply = reply;
  memset (&reply, 0, sizeof reply);
  return TRUE;
}

const char *
module_execute (Executor *executor, const Proposal *proposal, char **out_result)
{
  g_autofree char *path = runner_path (executor, proposal->action);
  g_autofree char *refusal = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (Handover) reply = { 0 };
  autofd sock = handover_connect (path, executor->config->module_timeout, &error);

  if (sock < 0 || !handover_send (sock, HANDOVER_MODULE_EXECUTE,
                                  call_new (proposal, proposal->action->credential), proposal->fds,
                                  proposal->n_fds, &error))
    {
      *out_result = g_strdup_printf ("nothing was done: %s", error->message);
      return "failed";
    }
  if (!reply_receive (sock, &reply, &refusal, &error))
    {
      *out_result = g_strdup_printf ("no outcome came from the module: %s", error->message);
      return "unknown";
    }
  if (refusal != NULL)
    {
      *out_result = g_strdup_printf ("nothing was done: %s", refusal);
      return "failed";
    }
  return outcome_read (&reply, out_result);
}
