/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The statement: the bytes whose digest a passkey signs.  The executor encodes it to rebuild what
 * was signed, a card decodes it to compare it with what it shows.  Both directions pass the one
 * check below; nothing here looks at a clock, a seal's key or a policy.
 */
#include "service/record/statement.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/encode.h"
#include "service/base/json.h"
#include "service/record/record-private.h"
#include "service/record/type.h"

#include <string.h>

#define RP_DESKTOP_PREFIX "undersign:"
#define CREDENTIAL_MAX 1023
#define SEAL_SIZE 32
#define NONCE_SIZE 32

static gboolean
is_format (const char *text)
{
  return strcmp (text, STATEMENT_FORMAT) == 0;
}

static gboolean
is_decision (const char *text)
{
  return strcmp (text, "approve") == 0 || strcmp (text, "deny") == 0;
}

static gboolean
is_base64url (const char *text, gsize min, gsize max)
{
  g_autoptr (GBytes) bytes = base64url_decode (text, max);

  return bytes != NULL && g_bytes_get_size (bytes) >= min;
}

static gboolean
is_credential_id (const char *text)
{
  return is_base64url (text, 1, CREDENTIAL_MAX);
}

static gboolean
is_seal (const char *text)
{
  return is_base64url (text, SEAL_SIZE, SEAL_SIZE);
}

static gboolean
is_nonce (const char *text)
{
  return is_base64url (text, NONCE_SIZE, NONCE_SIZE);
}

static gboolean
is_timestamp (const char *text)
{
  gint64 wall;

  return clock_parse (text, &wall);
}

/* A domain that a browser would take, or the host of a key held on the desktop. */
static gboolean
is_rp (const char *text)
{
  g_autoptr (JsonTree) value = NULL;

  if (g_str_has_prefix (text, RP_DESKTOP_PREFIX))
    return id_is_valid (text + strlen (RP_DESKTOP_PREFIX));
  value = json_tree_new_string (text);
  return text[0] != '\0' && strchr (text, ':') == NULL &&
         type_check (type_find ("hostname"), "rp", value, NULL);
}

static const struct
{
  const char *name;
  gboolean (*is_valid) (const char *text);
} members[] = {
  { "credential", is_credential_id },
  { "decision", is_decision },
  { "expires", is_timestamp },
  { "format", is_format },
  { "issued", is_timestamp },
  { "nonce", is_nonce },
  { "record", member_is_digest },
  { "request", id_is_valid },
  { "rp", is_rp },
  { "seal", is_seal },
};

static gboolean
bad_statement (const char *where, GError **error)
{
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_STATEMENT,
                       "%s: not of its form", where);
}

static gboolean
check_approver (const JsonTree *approver, GError **error)
{
  static const char *const required[] = { "name", "uid", NULL };
  static const char *const optional[] = { NULL };
  const char *name = json_tree_get_string (approver, "name");
  const char *uid = json_tree_get_string (approver, "uid");

  if (!member_check_names (approver, "approver", required, optional, US_REASON_BAD_STATEMENT,
                           error))
    return FALSE;
  if (name == NULL || !member_is_user (name) || uid == NULL || !member_parse_uid (uid, NULL))
    return bad_statement ("approver", error);
  return TRUE;
}

static gboolean
check_supersedes (const JsonTree *supersedes, GError **error)
{
  static const char *const required[] = { "digest", "request", NULL };
  static const char *const optional[] = { NULL };
  const char *request = json_tree_get_string (supersedes, "request");
  const char *digest = json_tree_get_string (supersedes, "digest");

  if (supersedes == NULL)
    return TRUE;
  if (!member_check_names (supersedes, "supersedes", required, optional, US_REASON_BAD_STATEMENT,
                           error))
    return FALSE;
  if (request == NULL || !id_is_valid (request) || digest == NULL || !member_is_digest (digest))
    return bad_statement ("supersedes", error);
  return TRUE;
}

static gboolean
check_shape (const JsonTree *tree, GError **error)
{
  static const char *const required[] = { "approver", "credential", "decision", "expires",
                                          "format",   "issued",     "nonce",    "record",
                                          "request",  "rp",         "seal",     NULL };
  static const char *const optional[] = { "supersedes", NULL };

  if (!member_check_names (tree, "the statement", required, optional, US_REASON_BAD_STATEMENT,
                           error))
    return FALSE;
  for (gsize i = 0; i < G_N_ELEMENTS (members); i++)
    {
      const char *text = json_tree_get_string (tree, members[i].name);

      if (text == NULL || !members[i].is_valid (text))
        return bad_statement (members[i].name, error);
    }
  return check_approver (json_tree_member (tree, "approver"), error) &&
         check_supersedes (json_tree_member (tree, "supersedes"), error);
}

void
statement_free (Statement *statement)
{
  if (statement == NULL)
    return;
  g_free (statement->decision);
  g_free (statement->request);
  g_free (statement->record);
  g_free (statement->approver_name);
  g_free (statement->credential);
  g_free (statement->rp);
  g_free (statement->seal);
  g_free (statement->nonce);
  g_free (statement->issued);
  g_free (statement->expires);
  g_free (statement->supersedes_request);
  g_free (statement->supersedes_digest);
  g_free (statement);
}

GBytes *
statement_encode (const Statement *statement, GError **error)
{
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  g_autofree char *uid = g_strdup_printf ("%" G_GUINT32_FORMAT, statement->approver_uid);
  g_autoptr (GBytes) bytes = NULL;
  JsonTree *part;

  if ((statement->supersedes_request == NULL) != (statement->supersedes_digest == NULL))
    {
      bad_statement ("supersedes", error);
      return NULL;
    }
  json_tree_add_string (tree, "format", STATEMENT_FORMAT);
  json_tree_add_string (tree, "decision", statement->decision);
  json_tree_add_string (tree, "request", statement->request);
  json_tree_add_string (tree, "record", statement->record);
  part = json_tree_add (tree, "approver", json_tree_new_object ());
  json_tree_add_string (part, "name", statement->approver_name);
  json_tree_add_string (part, "uid", uid);
  json_tree_add_string (tree, "credential", statement->credential);
  json_tree_add_string (tree, "rp", statement->rp);
  json_tree_add_string (tree, "seal", statement->seal);
  json_tree_add_string (tree, "nonce", statement->nonce);
  json_tree_add_string (tree, "issued", statement->issued);
  json_tree_add_string (tree, "expires", statement->expires);
  if (statement->supersedes_request != NULL)
    {
      part = json_tree_add (tree, "supersedes", json_tree_new_object ());
      json_tree_add_string (part, "request", statement->supersedes_request);
      json_tree_add_string (part, "digest", statement->supersedes_digest);
    }

  if (!check_shape (tree, error))
    return NULL;
  bytes = json_tree_write (tree);
  if (bytes == NULL || g_bytes_get_size (bytes) > STATEMENT_MAX_BYTES)
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                    "the statement is longer than %d bytes", STATEMENT_MAX_BYTES);
      return NULL;
    }
  return g_steal_pointer (&bytes);
}

/* Copies the members of a tree that has passed check_shape(). */
static Statement *
statement_from_tree (const JsonTree *tree)
{
  const JsonTree *approver = json_tree_member (tree, "approver");
  const JsonTree *supersedes = json_tree_member (tree, "supersedes");
  Statement *statement = g_new0 (Statement, 1);

  statement->decision = g_strdup (json_tree_get_string (tree, "decision"));
  statement->request = g_strdup (json_tree_get_string (tree, "request"));
  statement->record = g_strdup (json_tree_get_string (tree, "record"));
  statement->approver_name = g_strdup (json_tree_get_string (approver, "name"));
  statement->approver_uid = G_MAXUINT32;
  member_parse_uid (json_tree_get_string (approver, "uid"), &statement->approver_uid);
  statement->credential = g_strdup (json_tree_get_string (tree, "credential"));
  statement->rp = g_strdup (json_tree_get_string (tree, "rp"));
  statement->seal = g_strdup (json_tree_get_string (tree, "seal"));
  statement->nonce = g_strdup (json_tree_get_string (tree, "nonce"));
  statement->issued = g_strdup (json_tree_get_string (tree, "issued"));
  statement->expires = g_strdup (json_tree_get_string (tree, "expires"));
  statement->supersedes_request = g_strdup (json_tree_get_string (supersedes, "request"));
  statement->supersedes_digest = g_strdup (json_tree_get_string (supersedes, "digest"));
  return statement;
}

Statement *
statement_decode (GBytes *bytes, GError **error)
{
  static const JsonLimits limits = {
    .bytes = STATEMENT_MAX_BYTES,
    .depth = 2,
    .string = STATEMENT_MAX_BYTES,
    .items = 16,
  };
  g_autoptr (JsonTree) tree = NULL;
  g_autoptr (GBytes) again = NULL;
  gsize len;
  const char *text = g_bytes_get_data (bytes, &len);

  if (len > STATEMENT_MAX_BYTES)
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_TOO_LARGE,
                    "the statement is longer than %d bytes", STATEMENT_MAX_BYTES);
      return NULL;
    }
  tree = json_tree_parse (text, len, &limits, error);
  if (tree == NULL || !check_shape (tree, error))
    return NULL;
  again = json_tree_write (tree);
  if (again == NULL || !g_bytes_equal (again, bytes))
    {
      us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_STATEMENT,
                    "not in canonical form (RFC 8785)");
      return NULL;
    }
  return statement_from_tree (tree);
}

void
statement_challenge (GBytes *bytes, guint8 out_challenge[PAE_DIGEST_SIZE])
{
  pae_sha256 (PAE_TYPE_STATEMENT, bytes, out_challenge);
}
