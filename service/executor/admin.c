/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kinds of the administrator (uid 0: undersign-admin, which polkit guards) but ENROL.  `by` is
 * the uid of the person behind the call, for the audit log; it decides nothing.
 */
#include "service/executor/executor.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/wire.h"
#include "service/executor/journal.h"
#include "service/executor/prepared.h"

#include <string.h>

#define TEXT_MAX 1000

/* text_check: what a person wrote: one line, shown to others. */
static gboolean
text_check (const char *name, const char *text, GError **error)
{
  g_autoptr (JsonTree) value = json_tree_new_string (text);

  if (strlen (text) > TEXT_MAX)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                         "%s is %d bytes at most", name, TEXT_MAX);
  return type_check (type_find ("line"), name, value, error);
}

GVariant *
handle_revoke (Session *session, GVariant *body, GError **error)
{
  g_autoptr (GVariant) array = NULL;
  g_autoptr (GBytes) credential = NULL;
  g_autoptr (Passkey) passkey = NULL;
  guint32 by = 0;

  g_variant_get (body, "(@ayu)", &array, &by);
  credential = bytes_of (array);
  if (!ledger_revoke_passkey (session->executor->ledger, credential, (uid_t) by, error))
    return NULL;
  passkey = ledger_passkey (session->executor->ledger, credential, NULL);
  journal_act (JOURNAL_REVOKED, "revoked", by, NULL, passkey != NULL ? passkey->name : NULL);
  return g_variant_new (WIRE_EMPTY);
}

GVariant *
handle_passkeys (Session *session, GVariant *body, GError **error)
{
  g_autoptr (GPtrArray) passkeys = ledger_passkeys (session->executor->ledger, error);
  GVariantBuilder builder;

  if (passkeys == NULL)
    return NULL;
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(aysusssxbs)"));
  for (guint i = 0; i < passkeys->len; i++)
    {
      const Passkey *passkey = g_ptr_array_index (passkeys, i);
      const Signer signer = {
        passkey->algorithm == PASSKEY_ES256 ? SIGNER_ES256 : SIGNER_EDDSA, passkey->public_key
      };
      g_autofree char *key = signer_id_text (&signer);

      g_variant_builder_add (&builder, "(@aysusssxbs)", variant_of_bytes (passkey->credential),
                             passkey->name, (guint32) passkey->uid, passkey->kind, passkey->label,
                             passkey->rp, passkey->enrolled, passkey->active, key);
    }
  return g_variant_new (WIRE_PASSKEYS_REPLY, &builder);
}

GVariant *
handle_halt (Session *session, GVariant *body, GError **error)
{
  const char *why = NULL;
  guint32 by = 0;

  g_variant_get (body, "(u&s)", &by, &why);
  if (!text_check ("why", why, error) ||
      !ledger_halt (session->executor->ledger, (uid_t) by, why, error))
    return NULL;
  journal_act (JOURNAL_HALTED, "halted", by, NULL, NULL);
  return g_variant_new (WIRE_EMPTY);
}

GVariant *
handle_resume (Session *session, GVariant *body, GError **error)
{
  const char *why = NULL;
  guint32 by = 0;

  g_variant_get (body, "(u&s)", &by, &why);
  if (!text_check ("why", why, error) ||
      !ledger_resume (session->executor->ledger, (uid_t) by, why, error))
    return NULL;
  journal_act (JOURNAL_RESUMED, "resumed", by, NULL, NULL);
  return g_variant_new (WIRE_EMPTY);
}

GVariant *
handle_resolve (Session *session, GVariant *body, GError **error)
{
  const char *request = NULL;
  const char *outcome = NULL;
  const char *note = NULL;
  guint32 by = 0;

  g_variant_get (body, "(&s&s&su)", &request, &outcome, &note, &by);
  if (strcmp (outcome, "done") != 0 && strcmp (outcome, "failed") != 0)
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                    "an outcome is resolved as done or failed");
      return NULL;
    }
  if (!request_id_check (request, error) || !text_check ("note", note, error) ||
      !ledger_resolve (session->executor->ledger, request, outcome, note, (uid_t) by, error))
    return NULL;
  journal_act (JOURNAL_RESOLVED, "resolved", by, request, NULL);
  return g_variant_new (WIRE_EMPTY);
}

/* policy_look: what the files say now; the image that is used is the listener's. */
static char *
policy_look (Executor *executor)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) image = policy_snapshot (&executor->config->policy, &error);
  g_autoptr (Policy) policy = NULL;

  if (image != NULL)
    policy = policy_parse (image, executor->config->names, &error);
  return g_strdup (policy != NULL ? "" : error->message);
}

/* The worker that reads the new image first notes it in the audit log. */
GVariant *
handle_reload (Session *session, GVariant *body, GError **error)
{
  g_autofree char *fault = policy_look (session->executor);

  if (!session->executor->config->reload (error))
    return NULL;
  return g_variant_new (WIRE_POLICY_REPLY, fault);
}

GVariant *
handle_policy (Session *session, GVariant *body, GError **error)
{
  Executor *executor = session->executor;
  g_autoptr (GError) local = NULL;

  if (executor_policy (executor, &local) == NULL)
    return g_variant_new (WIRE_POLICY_REPLY, local->message);
  session->reply_fd = executor->image_fd;
  return g_variant_new (WIRE_POLICY_REPLY, "");
}

GVariant *
handle_status (Session *session, GVariant *body, GError **error)
{
  Executor *executor = session->executor;
  g_auto (LedgerSummary) summary = { 0 };
  g_autoptr (GError) invalid = NULL;
  g_autofree char *head = NULL;
  const char *fault = "";
  PolicyCounts counts = { 0 };
  GVariantDict dict;

  if (!ledger_summary (executor->ledger, &summary, error))
    return NULL;
  if (executor_policy (executor, &invalid) != NULL)
    policy_count (executor->policy, &counts);
  else
    fault = session->admin ? executor->fault : invalid->message;
  head = digest_to_string (summary.head);

  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "running", "b", *summary.stopped == '\0');
  g_variant_dict_insert (&dict, "halted", "s", summary.stopped);
  g_variant_dict_insert (&dict, "policy", "s", fault);
  g_variant_dict_insert (&dict, "actions", "u", counts.actions);
  g_variant_dict_insert (&dict, "agents", "u", counts.agents);
  g_variant_dict_insert (&dict, "rules", "u", counts.rules);
  g_variant_dict_insert (&dict, "passkeys", "u", summary.passkeys);
  g_variant_dict_insert (&dict, "requests", "t", summary.requests);
  g_variant_dict_insert (&dict, "audit", "t", summary.seq);
  g_variant_dict_insert (&dict, "head", "s", head);
  return g_variant_new ("(@a{sv})", g_variant_dict_end (&dict));
}
