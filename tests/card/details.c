/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/card/details.h"

#include "service/base/encode.h"

#include <string.h>

static void
insert_credentials (GVariantDict *details, GBytes *credential, const char *kind)
{
  GVariantBuilder list;
  gsize len;
  const void *id = g_bytes_get_data (credential, &len);

  g_variant_builder_init (&list, G_VARIANT_TYPE ("a(ayssss)"));
  g_variant_builder_add (&list, "(@ayssss)",
                         g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, id, len, 1), kind, TEST_RP,
                         "", "Laptop");
  g_variant_dict_insert_value (details, "credentials", g_variant_builder_end (&list));
}

GVariantDict *
test_details (const Record *record, GBytes *credential, const char *kind)
{
  GVariantDict *details = g_variant_dict_new (NULL);
  g_autofree char *digest = digest_to_string (record_digest (record));

  g_variant_dict_insert (details, "state", "s", "pending");
  g_variant_dict_insert (details, "digest", "s", digest);
  g_variant_dict_insert (details, "expires", "s", TEST_EXPIRES);
  g_variant_dict_insert (details, "deadline", "t", G_GUINT64_CONSTANT (1000000000));
  g_variant_dict_insert (details, "answered", "b", FALSE);
  g_variant_dict_insert (details, "answers", "u", 0);
  g_variant_dict_insert (details, "needed", "u", 1);
  g_variant_dict_insert (details, "attempts", "u", 5);
  g_variant_dict_insert (details, "again", "b", FALSE);
  g_variant_dict_insert_value (details, "history",
                               g_variant_new_parsed ("[('Suspend an account', 'done')]"));
  insert_credentials (details, credential, kind);
  return details;
}

GBytes *
test_statement (const Record *record,
                const Record *superseded,
                GBytes *credential,
                const char *user,
                guint32 uid,
                void (*change) (Statement *statement))
{
  g_autoptr (Statement) statement = g_new0 (Statement, 1);
  g_autoptr (GError) error = NULL;
  gsize len;
  const guint8 *id = g_bytes_get_data (credential, &len);
  GBytes *bytes;

  statement->decision = g_strdup ("approve");
  statement->request = g_strdup (TEST_REQUEST);
  statement->record = digest_to_string (record_digest (record));
  statement->approver_name = g_strdup (user);
  statement->approver_uid = uid;
  statement->credential = base64url_encode (id, len);
  statement->rp = g_strdup (TEST_RP);
  statement->seal = g_strnfill (43, 'A');
  statement->nonce = g_strnfill (43, 'A');
  statement->issued = g_strdup (TEST_ISSUED);
  statement->expires = g_strdup (TEST_EXPIRES);
  if (superseded != NULL)
    {
      statement->supersedes_request = g_strdup (TEST_SUPERSEDED);
      statement->supersedes_digest = digest_to_string (record_digest (superseded));
    }
  if (change != NULL)
    change (statement);
  bytes = statement_encode (statement, &error);
  g_assert_no_error (error);
  return bytes;
}
