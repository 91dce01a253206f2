/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See client.h. */
#include "tests/executor/client.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/base/fd.h"
#include "service/base/memfd.h"
#include "service/base/wire.h"
#include "service/record/statement.h"

#include <string.h>

#define CREATE_FLAGS (TEST_FLAGS | 0x40)

/* --- requests --- */

void
request_set (char **member, const char *value)
{
  g_free (*member);
  *member = g_strdup (value);
}

Request *
request_new (Client *client, const char *action)
{
  Request *request = g_new0 (Request, 1);

  request->id = random_id ();
  request->uid = client->agent_uid;
  request->part = g_strdup ("main");
  request->run = random_id ();
  request->label = g_strdup ("ticket-4711");
  request->initiator = g_strdup ("");
  request->initiator_uid = g_strdup ("");
  request->action = g_strdup (action);
  request->claim = g_strdup ("");
  request->supersedes = g_strdup ("");
  request->supersedes_digest = g_strdup ("");
  request_arguments (request, "@a(sv) []");
  return request;
}

void
request_free (Request *request)
{
  if (request == NULL)
    return;
  g_free (request->id);
  g_free (request->part);
  g_free (request->run);
  g_free (request->label);
  g_free (request->initiator);
  g_free (request->initiator_uid);
  g_free (request->action);
  g_free (request->claim);
  g_free (request->supersedes);
  g_free (request->supersedes_digest);
  g_clear_pointer (&request->arguments, g_variant_unref);
  for (guint i = 0; i < request->n_fds; i++)
    fd_clear (&request->fds[i]);
  g_free (request);
}

void
request_arguments (Request *request, const char *text)
{
  g_autoptr (GError) error = NULL;

  g_clear_pointer (&request->arguments, g_variant_unref);
  request->arguments = g_variant_parse (G_VARIANT_TYPE ("a(sv)"), text, NULL, NULL, &error);
  g_assert_no_error (error);
}

void
request_file (Request *request, const char *content)
{
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (request->n_fds, <, CLIENT_MAX_FILES);
  request->fds[request->n_fds++] = memfd_new_sealed ("file", content, strlen (content), &error);
  g_assert_no_error (error);
}

GVariant *
request_variant (const Request *request)
{
  return g_variant_new ("(sus(ssss)s@a(sv)s(ss))", request->id, request->uid, request->part,
                        request->run, request->label, request->initiator, request->initiator_uid,
                        request->action, request->arguments, request->claim, request->supersedes,
                        request->supersedes_digest);
}

/* --- calls --- */

gboolean
client_call (Client *client,
             gboolean admin,
             HandoverKind kind,
             GVariant *body,
             const int *fds,
             guint n_fds,
             const char *reply_type,
             Handover *out_reply,
             GError **error)
{
  g_autoptr (GVariant) sunk = g_variant_ref_sink (body);
  autofd sock = client->connect (client, admin, error);

  if (sock < 0 || !handover_send (sock, kind, sunk, fds, n_fds, error))
    return FALSE;
  if (client->leaves)
    fd_clear (&sock);
  if (client->serve != NULL)
    client->serve (client);
  if (client->leaves)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE, "nobody waited for it");
  return handover_receive_reply (sock, reply_type, out_reply, error);
}

static GBytes *
child_bytes (GVariant *tuple, gsize i)
{
  g_autoptr (GVariant) child = g_variant_get_child_value (tuple, i);

  return g_variant_get_data_as_bytes (child);
}

static GVariant *
array_of (GBytes *bytes)
{
  return g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, bytes, TRUE);
}

void
prepare_clear (Prepare *prepare)
{
  g_clear_pointer (&prepare->decision, g_free);
  g_clear_pointer (&prepare->facts, g_variant_unref);
  g_clear_pointer (&prepare->record, g_bytes_unref);
  g_clear_pointer (&prepare->seal, g_bytes_unref);
  g_clear_pointer (&prepare->expires, g_free);
  g_clear_pointer (&prepare->requirements, g_variant_unref);
}

gboolean
client_prepare (Client *client, const Request *request, Prepare *out_prepare, GError **error)
{
  g_auto (Handover) reply = { 0 };

  if (!client_call (client, FALSE, HANDOVER_PREPARE, request_variant (request), request->fds,
                    request->n_fds, WIRE_PREPARE_REPLY, &reply, error))
    return FALSE;
  g_variant_get_child (reply.body, 0, "s", &out_prepare->decision);
  out_prepare->facts = g_variant_get_child_value (reply.body, 1);
  out_prepare->record = child_bytes (reply.body, 2);
  g_variant_get_child (reply.body, 3, "t", &out_prepare->deadline);
  out_prepare->seal = child_bytes (reply.body, 4);
  g_variant_get_child (reply.body, 5, "s", &out_prepare->expires);
  out_prepare->requirements = g_variant_get_child_value (reply.body, 6);
  return TRUE;
}

GVariant *
prepared_variant (const Request *request, const Prepare *prepare)
{
  return g_variant_new ("(@" WIRE_REQUEST "@" WIRE_FACTS "@ayt@ay)", request_variant (request),
                        prepare->facts, array_of (prepare->record), prepare->deadline,
                        array_of (prepare->seal));
}

/* --- answers --- */

void
reply_clear (Reply *reply)
{
  g_clear_pointer (&reply->decision, g_free);
  g_clear_pointer (&reply->nonce, g_free);
  g_clear_pointer (&reply->issued, g_free);
  g_clear_pointer (&reply->expires, g_free);
  g_clear_pointer (&reply->reason, g_free);
  g_clear_pointer (&reply->statement, g_bytes_unref);
  g_clear_pointer (&reply->credential, g_bytes_unref);
  assertion_clear (&reply->assertion);
}

static Statement *
statement_of (TestKey *key, const Request *request, const Prepare *prepare, const Reply *reply)
{
  Statement *statement = g_new0 (Statement, 1);
  guint8 digest[PAE_DIGEST_SIZE];

  pae_sha256 (PAE_TYPE_RECORD, prepare->record, digest);
  statement->decision = g_strdup (reply->decision);
  statement->request = g_strdup (request->id);
  statement->record = digest_to_string (digest);
  statement->approver_name = g_strdup (key->passkey->name);
  statement->approver_uid = (guint32) key->passkey->uid;
  statement->credential = base64url_encode (g_bytes_get_data (reply->credential, NULL),
                                            g_bytes_get_size (reply->credential));
  statement->rp = g_strdup (key->passkey->rp);
  statement->seal =
      base64url_encode (g_bytes_get_data (prepare->seal, NULL), g_bytes_get_size (prepare->seal));
  statement->nonce = g_strdup (reply->nonce);
  statement->issued = g_strdup (reply->issued);
  statement->expires = g_strdup (reply->expires);
  if (*request->supersedes != '\0')
    {
      statement->supersedes_request = g_strdup (request->supersedes);
      statement->supersedes_digest = g_strdup (request->supersedes_digest);
    }
  return statement;
}

void
reply_sign (TestKey *key,
            const Request *request,
            const Prepare *prepare,
            const char *decision,
            guint32 counter,
            Reply *out_reply)
{
  g_autoptr (Statement) statement = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *one = random_id ();
  g_autofree char *two = random_id ();
  g_autofree char *nonce = g_strconcat (one, two, NULL);
  guint8 raw[32];
  guint8 challenge[PAE_DIGEST_SIZE];

  g_assert_true (hex_decode (nonce, raw, sizeof raw));
  out_reply->decision = g_strdup (decision);
  out_reply->reason = g_strdup ("");
  out_reply->nonce = base64url_encode (raw, sizeof raw);
  out_reply->issued = g_strdup ("2026-11-30T09:00:00Z");
  out_reply->expires = g_strdup (prepare->expires);
  out_reply->credential = g_bytes_ref (key->passkey->credential);

  statement = statement_of (key, request, prepare, out_reply);
  out_reply->statement = statement_encode (statement, &error);
  g_assert_no_error (error);
  statement_challenge (out_reply->statement, challenge);
  out_reply->assertion = test_assertion (
      key, test_client_data ("webauthn.get", challenge, sizeof challenge, key->passkey->rp, ""),
      test_auth_data (key->passkey->rp, TEST_FLAGS, counter, NULL));
}

gboolean
client_answer (Client *client,
               const Request *request,
               const Prepare *prepare,
               const Reply *reply,
               char **out_state,
               GError **error)
{
  g_auto (Handover) handover = { 0 };
  GVariant *body = g_variant_new (
      "(@" WIRE_PREPARED "s@ay@aysss@ay@ay@ays)", prepared_variant (request, prepare),
      reply->decision, array_of (reply->statement), array_of (reply->credential), reply->nonce,
      reply->issued, reply->expires, array_of (reply->assertion.client_data),
      array_of (reply->assertion.auth_data), array_of (reply->assertion.signature), reply->reason);

  if (!client_call (client, FALSE, HANDOVER_ANSWER, body, request->fds, request->n_fds,
                    WIRE_ANSWER_REPLY, &handover, error))
    return FALSE;
  if (out_state != NULL)
    g_variant_get_child (handover.body, 0, "s", out_state);
  return TRUE;
}

gboolean
client_approve (
    Client *client, TestKey *key, const Request *request, const Prepare *prepare, GError **error)
{
  g_auto (Reply) reply = { 0 };

  reply_sign (key, request, prepare, "approve", 0, &reply);
  return client_answer (client, request, prepare, &reply, NULL, error);
}

gboolean
client_execute (Client *client,
                const Request *request,
                const Prepare *prepare,
                char **out_outcome,
                GError **error)
{
  g_autoptr (GVariant) body = g_variant_ref_sink (
      g_variant_new ("(@" WIRE_PREPARED ")", prepared_variant (request, prepare)));
  g_auto (Handover) first = { 0 };
  g_auto (Handover) second = { 0 };
  autofd sock = client->connect (client, FALSE, error);
  const char *word = NULL;

  if (sock < 0 ||
      !handover_send (sock, HANDOVER_EXECUTE, body, request->fds, request->n_fds, error))
    return FALSE;
  if (client->serve != NULL)
    client->serve (client);
  if (!handover_receive_reply (sock, WIRE_EXECUTE_CONSUMED, &first, error))
    return FALSE;
  g_variant_get (first.body, "(&s)", &word);
  g_assert_cmpstr (word, ==, "consumed");
  if (!handover_receive_reply (sock, WIRE_EXECUTE_OUTCOME, &second, error))
    return FALSE;
  if (out_outcome != NULL)
    g_variant_get_child (second.body, 0, "s", out_outcome);
  return TRUE;
}

gboolean
client_close (Client *client, const char *request, const char *why, GError **error)
{
  g_autoptr (GBytes) none = g_bytes_new_static ("", 0);
  g_auto (Handover) reply = { 0 };

  return client_call (client, FALSE, HANDOVER_CLOSE,
                      g_variant_new ("(s@aysss)", request, array_of (none), why, "", ""), NULL, 0,
                      WIRE_EMPTY, &reply, error);
}

char *
client_state (Client *client, const char *request)
{
  g_auto (Handover) reply = { 0 };
  g_autoptr (GError) error = NULL;
  char *state = NULL;

  assert_good (client_call (client, FALSE, HANDOVER_QUERY, g_variant_new ("(s)", request), NULL, 0,
                            WIRE_QUERY_REPLY, &reply, &error),
               &error);
  g_variant_get_child (reply.body, 0, "s", &state);
  return state;
}

/* --- people --- */

TestKey *
key_new (Client *client, const char *name, uid_t uid)
{
  TestKey *key = test_key_new (PASSKEY_ES256);

  request_set (&key->passkey->name, name);
  key->passkey->uid = uid;
  g_free (key->passkey->rp);
  key->passkey->rp = g_strconcat ("undersign:", client->host, NULL);
  return key;
}

GVariant *
enrolment_variant (TestKey *key, const char *kind, const char *rp, const char *origin)
{
  static gsize id_len = 16; /* the test authenticator's ids differ in their length alone */
  g_autoptr (GByteArray) attested = test_attested (key, ++id_len);
  g_autoptr (GBytes) auth_data = test_auth_data (key->passkey->rp, CREATE_FLAGS, 0, attested);
  g_autoptr (GBytes) attestation = test_attestation (auth_data, 0, NULL);
  g_autoptr (GBytes) client_data =
      test_client_data ("webauthn.create", key->challenge, PAE_DIGEST_SIZE, key->passkey->rp, "");
  g_autoptr (GBytes) challenge = g_bytes_new (key->challenge, PAE_DIGEST_SIZE);

  return g_variant_new ("(sussss@ay@ay@ayu)", key->passkey->name, (guint32) key->passkey->uid, kind,
                        "a test key", rp, origin, array_of (challenge), array_of (client_data),
                        array_of (attestation), 0u);
}

TestKey *
client_enrol (Client *client, const char *name, uid_t uid)
{
  g_autoptr (GError) error = NULL;
  g_auto (Handover) reply = { 0 };
  TestKey *key = key_new (client, name, uid);

  assert_good (client_call (client, TRUE, HANDOVER_ENROL,
                            enrolment_variant (key, "software", key->passkey->rp, ""), NULL, 0,
                            WIRE_ENROL_REPLY, &reply, &error),
               &error);
  g_bytes_unref (key->passkey->credential);
  key->passkey->credential = child_bytes (reply.body, 0);
  return key;
}

void
assert_refused (gboolean result, GError **error, const char *reason)
{
  g_assert_false (result);
  g_assert_nonnull (*error);
  if (!us_error_has_reason (*error, reason))
    g_error ("expected %s, got \"%s\"", reason, (*error)->message);
  g_clear_error (error);
}

void
assert_good (gboolean result, GError **error)
{
  g_assert_no_error (*error);
  g_assert_true (result);
}
