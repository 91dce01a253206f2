/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unique name to uid.  Process id, executable and whatever a caller says of itself never come in;
 * an error, a missing member and a name that left meanwhile all mean that nobody is there, and
 * never a uid.
 */
#include "service/broker/identity.h"

#define LOOKUP_TIMEOUT 5000 /* milliseconds */

typedef struct
{
  IdentityCallback callback;
  gpointer data;
} Waiting;

/* A connection to the bus, as long as its name is there. */
typedef struct
{
  Identity *identity; /* NULL once that is gone */
  char *name;
  gboolean is_known;
  gboolean has_left;
  uid_t uid;
  GArray *waiting; /* (element-type Waiting) while it is looked up */
} Peer;

struct Identity
{
  GDBusConnection *connection;
  IdentityMap map;
  gpointer map_data;
  GHashTable *peers; /* name → Peer */
};

static void
peer_free (gpointer data)
{
  Peer *peer = data;

  g_clear_pointer (&peer->waiting, g_array_unref);
  g_free (peer->name);
  g_free (peer);
}

Identity *
identity_new (GDBusConnection *connection, IdentityMap map, gpointer data)
{
  Identity *identity = g_new0 (Identity, 1);

  identity->connection = g_object_ref (connection);
  identity->map = map;
  identity->map_data = data;
  identity->peers = g_hash_table_new (g_str_hash, g_str_equal);
  return identity;
}

static void
call_back (GArray *waiting, gboolean known, uid_t uid)
{
  for (guint i = 0; i < waiting->len; i++)
    {
      const Waiting *one = &g_array_index (waiting, Waiting, i);

      one->callback (known, known ? uid : (uid_t) -1, one->data);
    }
}

void
identity_free (Identity *identity)
{
  GHashTableIter iter;
  gpointer value = NULL;

  if (identity == NULL)
    return;
  g_hash_table_iter_init (&iter, identity->peers);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      Peer *peer = value;
      g_autoptr (GArray) waiting = g_steal_pointer (&peer->waiting);

      /* One that is being looked up is freed by its reply. */
      if (peer->is_known)
        peer_free (peer);
      else
        peer->identity = NULL;
      if (waiting != NULL)
        call_back (waiting, FALSE, 0);
    }
  g_hash_table_unref (identity->peers);
  g_object_unref (identity->connection);
  g_free (identity);
}

/* uid_of: from the dictionary that the bus gave, in which a uid has one name and one type. */
static gboolean
uid_of (GVariant *reply, uid_t *out_uid)
{
  g_autoptr (GVariant) dictionary = g_variant_get_child_value (reply, 0);
  g_autoptr (GVariant) value =
      g_variant_lookup_value (dictionary, "UnixUserID", G_VARIANT_TYPE_UINT32);

  if (value == NULL || g_variant_get_uint32 (value) == (guint32) -1)
    return FALSE;
  *out_uid = (uid_t) g_variant_get_uint32 (value);
  return TRUE;
}

static void
peer_found (GObject *source, GAsyncResult *result, gpointer data)
{
  Peer *peer = data;
  Identity *identity = peer->identity;
  g_autoptr (GVariant) reply = NULL;
  g_autoptr (GArray) waiting = g_steal_pointer (&peer->waiting);
  gboolean known = FALSE;
  uid_t uid = (uid_t) -1;

  reply = g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, NULL);
  if (identity == NULL)
    {
      peer_free (peer);
      return;
    }

  known = reply != NULL && !peer->has_left && uid_of (reply, &uid) &&
          (identity->map == NULL || identity->map (peer->name, &uid, identity->map_data));
  if (known)
    {
      peer->is_known = TRUE;
      peer->uid = uid;
    }
  else
    {
      g_hash_table_remove (identity->peers, peer->name);
      peer_free (peer);
    }

  call_back (waiting, known, uid);
}

void
identity_lookup (Identity *identity, const char *name, IdentityCallback callback, gpointer data)
{
  Peer *peer = g_hash_table_lookup (identity->peers, name);
  Waiting one = { callback, data };

  if (peer != NULL && peer->is_known)
    {
      callback (TRUE, peer->uid, data);
      return;
    }
  if (peer == NULL)
    {
      peer = g_new0 (Peer, 1);
      peer->identity = identity;
      peer->name = g_strdup (name);
      peer->waiting = g_array_new (FALSE, FALSE, sizeof (Waiting));
      g_hash_table_insert (identity->peers, peer->name, peer);
      g_dbus_connection_call (identity->connection, "org.freedesktop.DBus",
                              "/org/freedesktop/DBus", "org.freedesktop.DBus",
                              "GetConnectionCredentials", g_variant_new ("(s)", name),
                              G_VARIANT_TYPE ("(a{sv})"), G_DBUS_CALL_FLAGS_NO_AUTO_START,
                              LOOKUP_TIMEOUT, NULL, peer_found, peer);
    }
  g_array_append_val (peer->waiting, one);
}

gboolean
identity_is_known (const Identity *identity, const char *name)
{
  const Peer *peer = g_hash_table_lookup (identity->peers, name);

  return peer != NULL && peer->is_known;
}

void
identity_forget (Identity *identity, const char *name)
{
  Peer *peer = g_hash_table_lookup (identity->peers, name);

  if (peer == NULL)
    return;
  if (!peer->is_known)
    {
      peer->has_left = TRUE;
      return;
    }
  g_hash_table_remove (identity->peers, name);
  peer_free (peer);
}
