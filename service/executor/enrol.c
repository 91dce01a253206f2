/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ENROL: a new passkey of a person.  The administrator's word decides who; that it is a passkey,
 * user-verified, of the origin it must have and made for this ceremony is checked here, and of a
 * hardware key who made it.  A kind that this build cannot verify is refused, never taken on trust.
 */
#include "service/executor/executor.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/wire.h"
#include "service/executor/journal.h"
#include "service/executor/prepared.h"

#include <string.h>

#define LABEL_MAX 128
#define RP_PREFIX "undersign:"

typedef struct
{
  const char *name;
  guint32 uid;
  const char *kind, *label, *rp, *origin;
  GBytes *challenge, *client_data, *attestation;
  guint32 by;
} Enrolment;

static void
enrolment_clear (Enrolment *enrolment)
{
  g_clear_pointer (&enrolment->challenge, g_bytes_unref);
  g_clear_pointer (&enrolment->client_data, g_bytes_unref);
  g_clear_pointer (&enrolment->attestation, g_bytes_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Enrolment, enrolment_clear)

static void
enrolment_read (GVariant *body, Enrolment *out_enrolment)
{
  g_autoptr (GVariant) challenge = NULL;
  g_autoptr (GVariant) client_data = NULL;
  g_autoptr (GVariant) attestation = NULL;

  g_variant_get (body, "(&su&s&s&s&s@ay@ay@ayu)", &out_enrolment->name, &out_enrolment->uid,
                 &out_enrolment->kind, &out_enrolment->label, &out_enrolment->rp,
                 &out_enrolment->origin, &challenge, &client_data, &attestation,
                 &out_enrolment->by);
  out_enrolment->challenge = bytes_of (challenge);
  out_enrolment->client_data = bytes_of (client_data);
  out_enrolment->attestation = bytes_of (attestation);
}

static gboolean
person_check (Executor *executor, const Enrolment *enrolment, GError **error)
{
  const PolicyNames *names = executor->config->names;
  const Policy *policy = executor_policy (executor, error);
  g_autofree char *name = NULL;
  uid_t uid = 0;

  if (policy == NULL)
    return FALSE;
  if (!names->user_by_name (enrolment->name, &uid) || uid != (uid_t) enrolment->uid ||
      !names->user_by_uid (uid, &name) || strcmp (name, enrolment->name) != 0)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_IDENTITY,
                         "name and uid %u are not each other's", enrolment->uid);
  if (policy_uid_is_barred (policy, uid))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_AGENT_UID,
                         "%s is root, an agent or a user of the service", name);
  return TRUE;
}

/* kind_check: keys held on this machine's desktop, which no browser and no other machine can use.
 */
static gboolean
kind_check (Executor *executor, const Enrolment *enrolment, GError **error)
{
  g_autofree char *rp = g_strconcat (RP_PREFIX, executor->config->host, NULL);
  PasskeyKinds kind = 0;

  if (!passkey_kind_parse (enrolment->kind, &kind))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_CREDENTIAL_KIND,
                         "there is no such kind of passkey");
  if (kind != PASSKEY_HARDWARE && kind != PASSKEY_SOFTWARE && kind != PASSKEY_UNATTESTED)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_CREDENTIAL_KIND,
                         "this build has no relying party for passkeys of kind %s",
                         enrolment->kind);
  if (strcmp (enrolment->rp, rp) != 0)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_RP_ID,
                         "the relying party of a key on this machine is %s", rp);
  if (strcmp (enrolment->origin, rp) != 0 && *enrolment->origin != '\0')
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_ORIGIN,
                         "the origin of a key on this machine is its relying party");
  return TRUE;
}

static gboolean
label_check (const Enrolment *enrolment, GError **error)
{
  g_autoptr (JsonTree) label = json_tree_new_string (enrolment->label);

  if (*enrolment->label == '\0' || strlen (enrolment->label) > LABEL_MAX)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "a label has 1 to %d bytes", LABEL_MAX);
  return type_check (type_find ("line"), "label", label, error);
}

/* roots_find: of a hardware key, as root has them at this moment; none is an empty set. */
static gboolean
roots_find (Executor *executor,
            const Enrolment *enrolment,
            AttestationRoots **out_roots,
            GError **error)
{
  g_autoptr (GError) local = NULL;
  const ExecutorConfig *config = executor->config;
  PasskeyKinds kind = 0;

  if (!passkey_kind_parse (enrolment->kind, &kind) || kind != PASSKEY_HARDWARE)
    return TRUE;
  *out_roots = attestation_roots_load (config->attestation_dir, config->policy.owner, &local);
  if (*out_roots == NULL)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_ATTESTATION_CHAIN,
                         "%s cannot be used: %s", config->attestation_dir, local->message);
  if (attestation_roots_count (*out_roots) == 0)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_ATTESTATION_CHAIN,
                         "%s names no maker of keys", config->attestation_dir);
  return TRUE;
}

static void
string_set (char **string, const char *value)
{
  g_free (*string);
  *string = g_strdup (value);
}

GVariant *
handle_enrol (Session *session, GVariant *body, GError **error)
{
  Executor *executor = session->executor;
  g_auto (Enrolment) enrolment = { 0 };
  g_autoptr (AttestationRoots) roots = NULL;
  g_autoptr (Passkey) passkey = NULL;
  Registration registration = { 0 };

  enrolment_read (body, &enrolment);
  if (!person_check (executor, &enrolment, error) || !kind_check (executor, &enrolment, error) ||
      !label_check (&enrolment, error) || !roots_find (executor, &enrolment, &roots, error))
    return NULL;
  if (g_bytes_get_size (enrolment.challenge) != PAE_DIGEST_SIZE)
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_CHALLENGE,
                    "a challenge is %d bytes", PAE_DIGEST_SIZE);
      return NULL;
    }

  registration.rp = enrolment.rp;
  registration.origin = enrolment.origin;
  memcpy (registration.challenge, g_bytes_get_data (enrolment.challenge, NULL), PAE_DIGEST_SIZE);
  registration.client_data = enrolment.client_data;
  registration.attestation = enrolment.attestation;
  registration.roots = roots;
  passkey = passkey_register (&registration, error);
  if (passkey == NULL)
    return NULL;

  string_set (&passkey->name, enrolment.name);
  string_set (&passkey->kind, enrolment.kind);
  string_set (&passkey->label, enrolment.label);
  passkey->uid = (uid_t) enrolment.uid;
  passkey->enrolled = clock_wall ();
  if (!ledger_add_passkey (executor->ledger, passkey, (uid_t) enrolment.by, error))
    return NULL;
  journal_act (JOURNAL_ENROLLED, "enrolled", enrolment.by, NULL, passkey->name);
  return g_variant_new ("(@ay)", variant_of_bytes (passkey->credential));
}
