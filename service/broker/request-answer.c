/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who may answer a request and by which passkeys, as its requirements say, who has, and what they were
 * given to sign.  It is for what the daemon shows and passes on: the executor decides again.
 */
#include "service/broker/request.h"

#include "service/base/wire.h"

void
issued_statement_free (IssuedStatement *statement)
{
  if (statement == NULL)
    return;
  g_bytes_unref (statement->credential);
  g_bytes_unref (statement->bytes);
  g_free (statement->nonce);
  g_free (statement->issued);
  g_free (statement->expires);
  g_free (statement);
}

/* Calls @found for each entry of @uid in the requirements, until it returns TRUE. */
static gboolean
foreach_approver (const Request *request,
                  uid_t uid,
                  gboolean (*found) (const char *name, GVariant *credentials, gpointer data),
                  gpointer data)
{
  GVariantIter outer;
  GVariant *approvers = NULL;

  g_variant_iter_init (&outer, request->requirements);
  while (g_variant_iter_next (&outer, "(&su@a" WIRE_APPROVER ")", NULL, NULL, &approvers))
    {
      g_autoptr (GVariant) owned = approvers;
      gsize n = g_variant_n_children (owned);

      for (gsize i = 0; i < n; i++)
        {
          g_autoptr (GVariant) approver = g_variant_get_child_value (owned, i);
          g_autoptr (GVariant) credentials = NULL;
          const char *name = NULL;
          guint32 its_uid = 0;

          g_variant_get (approver, "(&su@a" WIRE_CREDENTIAL ")", &name, &its_uid, &credentials);
          if (its_uid == uid && found (name, credentials, data))
            return TRUE;
        }
    }
  return FALSE;
}

static gboolean
take_name (const char *name, GVariant *credentials, gpointer data)
{
  char **out_name = data;

  if (out_name != NULL)
    *out_name = g_strdup (name);
  return TRUE;
}

gboolean
request_approver (const Request *request, uid_t uid, char **out_name)
{
  return foreach_approver (request, uid, take_name, out_name);
}

typedef struct
{
  GVariantBuilder *builder;
  GPtrArray *kept; /* what is in it already: a credential may satisfy several requirements */
} Gathering;

static gboolean
gather_credentials (const char *name, GVariant *credentials, gpointer data)
{
  Gathering *gathering = data;
  gsize n = g_variant_n_children (credentials);

  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) credential = g_variant_get_child_value (credentials, i);
      gboolean seen = FALSE;

      for (guint j = 0; j < gathering->kept->len && !seen; j++)
        seen = g_variant_equal (gathering->kept->pdata[j], credential);
      if (seen)
        continue;
      g_variant_builder_add_value (gathering->builder, credential);
      g_ptr_array_add (gathering->kept, g_steal_pointer (&credential));
    }
  return FALSE;
}

GVariant *
request_credentials (const Request *request, uid_t uid)
{
  GVariantBuilder builder;
  g_autoptr (GPtrArray) kept = g_ptr_array_new_with_free_func ((GDestroyNotify) g_variant_unref);
  Gathering gathering = { .builder = &builder, .kept = kept };

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a" WIRE_CREDENTIAL));
  foreach_approver (request, uid, gather_credentials, &gathering);
  return g_variant_ref_sink (g_variant_builder_end (&builder));
}

GVariant *
request_credential (const Request *request, uid_t uid, GBytes *id)
{
  g_autoptr (GVariant) all = request_credentials (request, uid);
  gsize n = g_variant_n_children (all);

  for (gsize i = 0; i < n; i++)
    {
      g_autoptr (GVariant) credential = g_variant_get_child_value (all, i);
      g_autoptr (GVariant) child = g_variant_get_child_value (credential, 0);
      g_autoptr (GBytes) bytes = g_variant_get_data_as_bytes (child);

      if (g_bytes_equal (bytes, id))
        return g_steal_pointer (&credential);
    }
  return NULL;
}

gboolean
request_has_answered (const Request *request, uid_t uid)
{
  for (guint i = 0; i < request->answered->len; i++)
    if (g_array_index (request->answered, uid_t, i) == uid)
      return TRUE;
  return FALSE;
}

void
request_add_statement (Request *request, IssuedStatement *statement)
{
  guint n = 0;

  g_ptr_array_add (request->statements, statement);
  for (guint i = request->statements->len; i-- > 0;)
    {
      const IssuedStatement *other = request->statements->pdata[i];

      if (other->uid == statement->uid && ++n > REQUEST_STATEMENTS)
        g_ptr_array_remove_index (request->statements, i);
    }
}

const IssuedStatement *
request_find_statement (const Request *request, uid_t uid, gboolean approves, GBytes *bytes)
{
  for (guint i = 0; i < request->statements->len; i++)
    {
      const IssuedStatement *statement = request->statements->pdata[i];

      if (statement->uid == uid && statement->approves == approves &&
          g_bytes_equal (statement->bytes, bytes))
        return statement;
    }
  return NULL;
}
