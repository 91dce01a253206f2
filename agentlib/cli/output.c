/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The only writer to standard output and standard error.  All text that came from elsewhere is
 * escaped here, so that no verb has to remember.
 */
#include "agentlib/cli/output.h"

#include "agentlib/cli/escape.h"

#include "dbus/error.h"
#include "dbus/names.h"
#include "dbus/reason.h"

#include <stdio.h>
#include <string.h>

void
output_line (const char *label, const char *value)
{
  g_autofree char *safe_label = escape_text (label);
  g_autofree char *safe = NULL;

  if (value == NULL || *value == '\0')
    return;
  safe = escape_text (value);
  printf ("%-10s %s\n", safe_label, safe);
}

void
output_text (const char *text)
{
  fputs (text, stdout);
}

JsonBuilder *
output_object (void)
{
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "version");
  json_builder_add_string_value (builder, OUTPUT_VERSION);
  return builder;
}

void
output_finish (JsonBuilder *builder)
{
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  g_autoptr (JsonNode) root = NULL;
  g_autofree char *text = NULL;
  g_autofree char *safe = NULL;

  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  json_generator_set_root (generator, root);
  text = json_generator_to_data (generator, NULL);
  safe = escape_json (text);
  printf ("%s\n", safe);
  g_object_unref (builder);
}

void
output_add_string (JsonBuilder *builder, const char *name, const char *value)
{
  json_builder_set_member_name (builder, name);
  if (value != NULL)
    json_builder_add_string_value (builder, value);
  else
    json_builder_add_null_value (builder);
}

static void
add_number (JsonBuilder *builder, GVariant *value)
{
  g_autofree char *text = g_variant_print (value, FALSE);
  gint64 number;

  /* What does not fit is kept as text, never rounded. */
  if (g_ascii_string_to_signed (text, 10, -(G_GINT64_CONSTANT (1) << 53),
                                G_GINT64_CONSTANT (1) << 53, &number, NULL))
    json_builder_add_int_value (builder, number);
  else
    json_builder_add_string_value (builder, text);
}

static void add_value (JsonBuilder *builder, GVariant *value);

static void
add_children (JsonBuilder *builder, GVariant *value)
{
  gboolean is_dictionary = g_variant_is_of_type (value, G_VARIANT_TYPE ("a{s*}"));
  GVariantIter iter;
  GVariant *child;

  if (is_dictionary)
    json_builder_begin_object (builder);
  else
    json_builder_begin_array (builder);
  g_variant_iter_init (&iter, value);
  while ((child = g_variant_iter_next_value (&iter)) != NULL)
    {
      if (is_dictionary)
        {
          g_autoptr (GVariant) key = g_variant_get_child_value (child, 0);
          g_autoptr (GVariant) member = g_variant_get_child_value (child, 1);

          output_add_variant (builder, g_variant_get_string (key, NULL), member);
        }
      else
        add_value (builder, child);
      g_variant_unref (child);
    }
  if (is_dictionary)
    json_builder_end_object (builder);
  else
    json_builder_end_array (builder);
}

static void
add_value (JsonBuilder *builder, GVariant *value)
{
  g_autoptr (GVariant) inner = NULL;

  if (g_variant_is_of_type (value, G_VARIANT_TYPE_VARIANT))
    {
      inner = g_variant_get_variant (value);
      add_value (builder, inner);
    }
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE_STRING) ||
           g_variant_is_of_type (value, G_VARIANT_TYPE_OBJECT_PATH))
    json_builder_add_string_value (builder, g_variant_get_string (value, NULL));
  else if (g_variant_is_of_type (value, G_VARIANT_TYPE_BOOLEAN))
    json_builder_add_boolean_value (builder, g_variant_get_boolean (value));
  else if (g_variant_is_container (value))
    add_children (builder, value);
  else
    add_number (builder, value);
}

void
output_add_variant (JsonBuilder *builder, const char *name, GVariant *value)
{
  json_builder_set_member_name (builder, name);
  add_value (builder, value);
}

void
output_error (gboolean json, const GError *error, const char *request)
{
  g_autofree char *safe = escape_text (error->message);
  const char *colon = strstr (error->message, ": ");
  g_autofree char *reason = NULL;
  JsonBuilder *builder;

  g_assert (error->domain == US_ERROR && colon != NULL);
  if (!json)
    {
      fflush (stdout);
      fprintf (stderr, PROGRAM ": %s\n", safe);
      return;
    }
  reason = g_strndup (error->message, (gsize) (colon - error->message));
  builder = output_object ();
  json_builder_set_member_name (builder, "error");
  json_builder_begin_object (builder);
  output_add_string (builder, "name", us_error_name ((UsError) error->code));
  output_add_string (builder, "reason", reason);
  output_add_string (builder, "message", colon + 2);
  json_builder_end_object (builder);
  if (request != NULL)
    output_add_string (builder, "request", request_id (request));
  output_finish (builder);
}

const char *
request_id (const char *path)
{
  const char *slash = strrchr (path, '/');

  return slash != NULL ? slash + 1 : path;
}

char *
request_path (const char *id_or_path, GError **error)
{
  const char *id = id_or_path;
  gsize digits;

  if (g_str_has_prefix (id, US_REQUEST_PATH_PREFIX))
    id += strlen (US_REQUEST_PATH_PREFIX);
  digits = strspn (id, "0123456789abcdef");
  if (digits == 32 && id[digits] == '\0')
    return g_strconcat (US_REQUEST_PATH_PREFIX, id, NULL);
  us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                "\"%s\" is no request id: 32 hexadecimal digits", id_or_path);
  return NULL;
}

static const char *
state_sentence (UsState state)
{
  static const char *const sentences[] = {
    [US_STATE_PENDING] = "pending: waits for a person",
    [US_STATE_APPROVED] = "approved: is being handed over",
    [US_STATE_EXECUTING] = "executing: the approval is used up",
    [US_STATE_DONE] = "done",
    [US_STATE_FAILED] = "failed: it had no effect",
    [US_STATE_UNKNOWN] = "unknown: it may have run; a person must find out, do not repeat it",
    [US_STATE_DENIED] = "denied: a person said no",
    [US_STATE_EXPIRED] = "expired: nobody answered in time",
    [US_STATE_WITHDRAWN] = "withdrawn",
    [US_STATE_SUPERSEDED] = "superseded: another request took its place",
    [US_STATE_UNREACHABLE] = "unreachable: nobody is left who could approve",
    [US_STATE_REFUSED] = "refused: a check at the execution failed",
  };

  G_STATIC_ASSERT (G_N_ELEMENTS (sentences) == US_STATE_N);
  return sentences[state];
}

static void
request_as_json (const char *path, UsState state, const UsStatus *status)
{
  JsonBuilder *builder = output_object ();

  output_add_string (builder, "request", request_id (path));
  output_add_string (builder, "state", us_state_to_string (state));
  if (status != NULL)
    {
      const char *supersedes = us_status_get_supersedes (status);
      const char *successor = us_status_get_successor (status);

      output_add_string (builder, "executed",
                         us_executed_to_string (us_status_get_executed (status)));
      output_add_string (builder, "action", us_status_get_action (status));
      output_add_string (builder, "run", us_status_get_run (status));
      output_add_string (builder, "digest", us_status_get_digest (status));
      output_add_string (builder, "expires", us_status_get_expires (status));
      output_add_string (builder, "reason", us_status_get_reason (status));
      output_add_string (builder, "result", us_status_get_result (status));
      json_builder_set_member_name (builder, "resolved");
      json_builder_add_boolean_value (builder, us_status_get_resolved (status));
      json_builder_set_member_name (builder, "card");
      json_builder_add_boolean_value (builder, us_status_get_card_open (status));
      json_builder_set_member_name (builder, "answers");
      json_builder_add_int_value (builder, us_status_get_answers (status));
      json_builder_set_member_name (builder, "needed");
      json_builder_add_int_value (builder, us_status_get_needed (status));
      output_add_string (builder, "supersedes", supersedes ? request_id (supersedes) : NULL);
      output_add_string (builder, "successor", successor ? request_id (successor) : NULL);
    }
  output_finish (builder);
}

void
output_request (gboolean json, const char *path, UsState state, const UsStatus *status)
{
  g_autofree char *answers = NULL;

  if (json)
    {
      request_as_json (path, state, status);
      return;
    }
  output_line ("request", request_id (path));
  if (status != NULL)
    output_line ("action", us_status_get_action (status));
  output_line ("state", state_sentence (state));
  if (status == NULL)
    return;
  output_line ("executed", us_executed_to_string (us_status_get_executed (status)));
  if (state == US_STATE_PENDING)
    {
      output_line ("card", us_status_get_card_open (status)
                               ? "open"
                               : "none is open: nobody who could answer is looking");
      if (us_status_get_needed (status) > 1)
        answers = g_strdup_printf ("%u of %u", us_status_get_answers (status),
                                   us_status_get_needed (status));
      output_line ("approvals", answers);
      output_line ("expires", us_status_get_expires (status));
    }
  output_line ("reason", us_status_get_reason (status));
  output_line ("result", us_status_get_result (status));
  if (us_status_get_successor (status) != NULL)
    output_line ("successor", request_id (us_status_get_successor (status)));
}
