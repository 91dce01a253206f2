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

char *
identity_claim (const Identity *identity)
{
  return identity->call != NULL && identity->call[0] != '\0'
             ? g_strconcat ("call ", identity->call, NULL)
             : NULL;
}
