/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BeginEnroll and FinishEnroll.  What can be told early is told before a person touches a key; the
 * executor, which owns the passkeys, has the last word on everything.
 */
#include "service/admin/call.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/admin/executor.h"
#include "service/mechanism/option.h"
#include "service/admin/relying-party.h"
#include "service/base/encode.h"
#include "service/base/handover.h"
#include "service/base/wire.h"
#include "service/passkey/passkey.h"

#include <string.h>

#define LABEL_MAX 64

/* Whether this user may have a passkey at all, as far as policy says. */
static gboolean
person_find (const AdminState *state, const char *user, uid_t *out_uid, GError **error)
{
  g_autoptr (GBytes) image = NULL;
  g_autoptr (Policy) policy = NULL;
  uid_t uid = 0;

  if (!policy_names_system.user_by_name (user, &uid))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_IDENTITY, "there is no such user");
  image = policy_snapshot (&state->config->policy, error);
  if (image == NULL)
    return FALSE;
  policy = policy_parse (image, &policy_names_system, error);
  if (policy == NULL)
    return FALSE;
  if (policy_uid_is_barred (policy, uid))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_AGENT_UID,
                         "%s is an agent, a user of the service or root", user);
  *out_uid = uid;
  return TRUE;
}

/* The same handle for the same person each time, so that an authenticator keeps one account. */
static GVariant *
user_handle (const Enrolment *enrolment)
{
  g_autofree char *text =
      g_strdup_printf ("%s\n%s\n%u", enrolment->rp, enrolment->user, (guint) enrolment->uid);
  g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));
  guint8 digest[PAE_DIGEST_SIZE];

  pae_sha256 (PAE_TYPE_ENROLMENT, bytes, digest);
  return g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, digest, sizeof digest, 1);
}

/* The credential ids that this person already has for the same relying party. */
static GVariant *
known_credentials (const AdminState *state, const Enrolment *enrolment, GError **error)
{
  g_autoptr (GVariant) passkeys = executor_passkeys (state, error);
  GVariantBuilder builder;
  GVariantIter iter;
  GVariant *credential = NULL;
  const char *rp = NULL;
  guint32 uid = 0;
  gboolean active = FALSE;

  if (passkeys == NULL)
    return NULL;
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("aay"));
  g_variant_iter_init (&iter, passkeys);
  while (g_variant_iter_next (&iter, "(@aysu&ss&sxbs)", &credential, NULL, &uid, NULL, NULL, &rp,
                              NULL, &active, NULL))
    {
      if (active && uid == enrolment->uid && g_strcmp0 (rp, enrolment->rp) == 0)
        g_variant_builder_add_value (&builder, credential);
      g_variant_unref (credential);
    }
  return g_variant_builder_end (&builder);
}

static Enrolment *
enrolment_new (const AdminCall *call, const char *user, GVariant *const *options, GError **error)
{
  g_autoptr (Enrolment) enrolment = g_new0 (Enrolment, 1);
  const char *kind = g_variant_get_string (options[0], NULL);
  const char *label = g_variant_get_string (options[1], NULL);
  const char *rp = options[2] != NULL ? g_variant_get_string (options[2], NULL) : NULL;
  PasskeyKinds parsed;

  if (!passkey_kind_parse (kind, &parsed))
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                    "\"kind\" must be hardware, unattested, synced, phone or software");
      return NULL;
    }
  if (!line_check ("label", label, LABEL_MAX, error) ||
      !relying_party_find (call->state->config, rp, &enrolment->rp, &enrolment->origin, error) ||
      !person_find (call->state, user, &enrolment->uid, error))
    return NULL;
  enrolment->sender = g_strdup (call->sender);
  enrolment->user = g_strdup (user);
  enrolment->kind = g_strdup (kind);
  enrolment->label = g_strdup (label);
  return g_steal_pointer (&enrolment);
}

GVariant *
handle_begin_enroll (const AdminCall *call, GError **error)
{
  static const OptionSpec specs[] = { { "kind", "s", TRUE },
                                      { "label", "s", TRUE },
                                      { "rp", "s", FALSE } };
  GVariant *options[G_N_ELEMENTS (specs)] = { NULL };
  g_autoptr (Enrolment) enrolment = NULL;
  g_autoptr (GVariant) dict = NULL;
  g_autoptr (GVariant) known = NULL;
  const Enrolment *open = NULL;
  const gint32 algorithms[] = { PASSKEY_EDDSA, PASSKEY_ES256 };
  const char *user = NULL;
  GVariantDict parameters;

  g_variant_get (call->body, "(&s@a{sv})", &user, &dict);
  if (!enrolments_room (call->state->enrolments, call->sender, error) ||
      !options_read (dict, specs, G_N_ELEMENTS (specs), options, error))
    return NULL;
  enrolment = enrolment_new (call, user, options, error);
  for (gsize i = 0; i < G_N_ELEMENTS (options); i++)
    g_clear_pointer (&options[i], g_variant_unref);
  if (enrolment == NULL)
    return NULL;
  known = known_credentials (call->state, enrolment, error);
  if (known == NULL)
    return NULL;
  g_variant_ref_sink (known);

  open = enrolments_add (call->state->enrolments, g_steal_pointer (&enrolment),
                         call->state->config->enrolment_seconds);
  g_variant_dict_init (&parameters, NULL);
  g_variant_dict_insert (&parameters, "rp", "s", open->rp);
  g_variant_dict_insert (&parameters, "origin", "s", passkey_origin (open->rp, open->origin));
  g_variant_dict_insert_value (&parameters, "user-id", user_handle (open));
  g_variant_dict_insert_value (&parameters, "algorithms",
                               g_variant_new_fixed_array (G_VARIANT_TYPE_INT32, algorithms,
                                                          G_N_ELEMENTS (algorithms),
                                                          sizeof algorithms[0]));
  g_variant_dict_insert_value (&parameters, "exclude", known);
  g_variant_dict_insert (&parameters, "timeout", "u", call->state->config->enrolment_seconds);
  return g_variant_new (
      "(s@ay@a{sv})", open->id,
      g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, open->challenge, sizeof open->challenge, 1),
      g_variant_dict_end (&parameters));
}

GVariant *
handle_finish_enroll (const AdminCall *call, GError **error)
{
  static const OptionSpec specs[] = { { "client-data", "ay", TRUE },
                                      { "attestation", "ay", TRUE } };
  GVariant *registration[G_N_ELEMENTS (specs)] = { NULL };
  g_autoptr (Enrolment) enrolment = NULL;
  g_autoptr (GVariant) dict = NULL;
  g_autoptr (GVariant) client_data = NULL;
  g_autoptr (GVariant) attestation = NULL;
  g_auto (Handover) reply = { 0 };
  const char *id = NULL;
  GVariant *body = NULL;

  g_variant_get (call->body, "(&s@a{sv})", &id, &dict);
  enrolment = enrolments_take (call->state->enrolments, id, call->sender, error);
  if (enrolment == NULL || !options_read (dict, specs, G_N_ELEMENTS (specs), registration, error))
    return NULL;
  client_data = registration[0];
  attestation = registration[1];
  if (g_variant_get_size (client_data) > PASSKEY_CLIENT_DATA_MAX ||
      g_variant_get_size (attestation) > PASSKEY_ATTESTATION_MAX)
    {
      us_error_set (error, US_ERROR_WRONG_ASSERTION, US_REASON_ASSERTION_SIZE,
                    "client data has at most %d bytes, an attestation %d", PASSKEY_CLIENT_DATA_MAX,
                    PASSKEY_ATTESTATION_MAX);
      return NULL;
    }
  body = g_variant_new ("(sussss@ay@ay@ayu)", enrolment->user, (guint32) enrolment->uid,
                        enrolment->kind, enrolment->label, enrolment->rp, enrolment->origin,
                        g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, enrolment->challenge,
                                                   sizeof enrolment->challenge, 1),
                        client_data, attestation, (guint32) call->uid);
  if (!executor_call (call->state, HANDOVER_ENROL, body, WIRE_ENROL_REPLY, &reply, error))
    return NULL;
  return g_variant_ref (reply.body);
}
