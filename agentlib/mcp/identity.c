/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Part, run label and call id.  They come from the framework and from who configured it, never from
 * a tool's arguments, which a model writes, and never from a client's name.  None of them is proof
 * of anything: who asks is the uid that the bus sees.
 */
#include "agentlib/mcp/identity.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

#define CALL_MAX 200
#define CORRELATOR_MAX 128

/* By what clients tell their calls apart, in _meta; and in Codex's own object there. */
static const char *const correlators[] = {
  "traceparent", "threadId", "claudecode/toolUseId", "vscode.conversationId", "vscode.requestId",
};
static const char *const turn_correlators[] = { "session_id", "thread_id", "turn_id" };

static gboolean
choose (const JsonTree *meta,
        const char *key,
        const char *given,
        const char **out_value,
        GError **error)
{
  const JsonTree *member = json_tree_member (meta, key);

  if (member != NULL && json_tree_string (member) == NULL)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_WRONG_TYPE,
                         "%s in _meta is no string", key);
  *out_value = member != NULL ? json_tree_string (member) : given;
  return TRUE;
}

gboolean
identity_read (const JsonTree *meta, const Options *options, Identity *out_identity, GError **error)
{
  Identity identity = { 0 };

  if (!choose (meta, META_OWN "part", options->part, &identity.part, error) ||
      !choose (meta, META_OWN "run", options->run, &identity.run, error) ||
      !choose (meta, META_OWN "call", options->call, &identity.call, error))
    return FALSE;
  if (identity.call != NULL && strlen (identity.call) > CALL_MAX)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "the id of the call is longer than %d bytes", CALL_MAX);
  *out_identity = identity;
  return TRUE;
}

/* Of a foreign key what is of another form is left out: it is nothing that we asked for. */
static void
add_correlator (GString *claim, const char *name, const JsonTree *member)
{
  const char *value = json_tree_string (member);
  gsize len = value != NULL ? strlen (value) : 0;

  if (len == 0 || len > CORRELATOR_MAX)
    return;
  for (gsize i = 0; i < len; i++)
    if (!g_ascii_isgraph (value[i]))
      return;
  g_string_append_printf (claim, "%s%s %s", claim->len > 0 ? "; " : "", name, value);
}

char *
identity_claim (const Identity *identity, const JsonTree *meta)
{
  const JsonTree *turn = json_tree_member (meta, "x-codex-turn-metadata");
  GString *claim = g_string_new (NULL);

  if (identity->call != NULL && identity->call[0] != '\0')
    g_string_append_printf (claim, "call %s", identity->call);
  for (gsize i = 0; i < G_N_ELEMENTS (correlators); i++)
    add_correlator (claim, correlators[i], json_tree_member (meta, correlators[i]));
  for (gsize i = 0; i < G_N_ELEMENTS (turn_correlators); i++)
    add_correlator (claim, turn_correlators[i], json_tree_member (turn, turn_correlators[i]));
  return g_string_free (claim, claim->len == 0);
}
