/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table behind the error domain.  It needs GLib alone, so that programs without a bus (the
 * executor, the runner) can use it; programs on a bus register the names with error-bus.c.
 */
#include "dbus/error.h"

#include <string.h>

static const char *const names[] = {
  [US_ERROR_NOT_AGENT] = "NotAgent",
  [US_ERROR_NOT_APPROVER] = "NotApprover",
  [US_ERROR_NOT_FOUND] = "NotFound",
  [US_ERROR_WRONG_STATE] = "WrongState",
  [US_ERROR_UNKNOWN_ACTION] = "UnknownAction",
  [US_ERROR_INVALID_ARGUMENT] = "InvalidArgument",
  [US_ERROR_LIMIT_EXCEEDED] = "LimitExceeded",
  [US_ERROR_REFUSED] = "Refused",
  [US_ERROR_NO_APPROVER] = "NoApprover",
  [US_ERROR_PAUSED] = "Paused",
  [US_ERROR_HALTED] = "Halted",
  [US_ERROR_POLICY_INVALID] = "PolicyInvalid",
  [US_ERROR_WRONG_ASSERTION] = "WrongAssertion",
  [US_ERROR_UNAVAILABLE] = "Unavailable",
};

G_STATIC_ASSERT (G_N_ELEMENTS (names) == US_ERROR_N);

GQuark
us_error_quark (void)
{
  return g_quark_from_static_string ("undersign-error-quark");
}

gboolean
us_error_set (GError **error, UsError code, const char *reason, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);

  g_set_error (error, US_ERROR, (int) code, "%s: %s", reason, text);
  return FALSE;
}

gboolean
us_error_has_reason (const GError *error, const char *reason)
{
  gsize len = strlen (reason);

  return error != NULL && error->domain == US_ERROR && strncmp (error->message, reason, len) == 0 &&
         error->message[len] == ':';
}

char *
us_error_reason (const GError *error)
{
  const char *colon = error->domain == US_ERROR ? strchr (error->message, ':') : NULL;

  return colon != NULL ? g_strndup (error->message, (gsize) (colon - error->message))
                       : g_strdup ("");
}

void
us_error_about (GError **error, const char *what)
{
  g_autofree char *old = NULL;
  g_autofree char *reason = NULL;
  gsize start = 0;

  if (error == NULL || *error == NULL)
    return;
  reason = us_error_reason (*error);
  old = (*error)->message;
  start = reason[0] != '\0' ? strlen (reason) + strlen (": ") : 0;
  (*error)->message = g_strdup_printf ("%.*s%s: %s", (int) start, old, what, old + start);
}

const char *
us_error_name (UsError code)
{
  if ((guint) code >= US_ERROR_N)
    return names[US_ERROR_UNAVAILABLE];
  return names[code];
}

UsError
us_error_from_name (const char *name)
{
  for (guint i = 0; i < US_ERROR_N; i++)
    if (strcmp (names[i], name) == 0)
      return (UsError) i;
  return US_ERROR_UNAVAILABLE;
}
