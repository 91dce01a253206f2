/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counting what waits.  A call is charged to its connection, and a connection to a party: its uid,
 * or strangers.  What a function here takes it takes whole; what it refuses changes nothing.
 */
#include "service/base/bus-share.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#define STRANGERS G_MAXUINT64
#define LARGE (16 * 1024) /* bytes: strangers' calls of more wait apart from those of less */

typedef struct
{
  guint64 id; /* a uid, or STRANGERS */
  guint senders;
  BusAmount used;
} Party;

typedef struct
{
  char *name;
  gboolean is_kept; /* also without calls */
  Party *party;
  BusAmount used;
} Sender;

struct BusShare
{
  gatomicrefcount refs;
  GMutex lock;
  BusBounds bounds;
  BusAmount used;
  GHashTable *parties; /* id → Party, with a sender each at least */
  GHashTable *senders; /* name → Sender */
};

struct BusCharge
{
  BusShare *share;
  Sender *sender;
  BusAmount amount;
};

static void
amount_add (BusAmount *amount, const BusAmount *more)
{
  amount->calls += more->calls;
  amount->bytes += more->bytes;
  amount->fds += more->fds;
}

static void
amount_subtract (BusAmount *amount, const BusAmount *less)
{
  g_assert (amount->calls >= less->calls && amount->bytes >= less->bytes &&
            amount->fds >= less->fds);
  amount->calls -= less->calls;
  amount->bytes -= less->bytes;
  amount->fds -= less->fds;
}

/* --- parties and senders, under the lock --- */

static Party *
party_join (BusShare *share, guint64 id)
{
  Party *party = g_hash_table_lookup (share->parties, &id);

  if (party == NULL)
    {
      party = g_new0 (Party, 1);
      party->id = id;
      g_hash_table_insert (share->parties, &party->id, party);
    }
  party->senders++;
  return party;
}

static void
party_leave (BusShare *share, Party *party)
{
  if (--party->senders == 0)
    g_hash_table_remove (share->parties, &party->id);
}

static void
sender_free (gpointer data)
{
  Sender *sender = data;

  g_free (sender->name);
  g_free (sender);
}

static Sender *
sender_get (BusShare *share, const char *name)
{
  Sender *sender = g_hash_table_lookup (share->senders, name);

  if (sender == NULL)
    {
      sender = g_new0 (Sender, 1);
      sender->name = g_strdup (name);
      sender->party = party_join (share, STRANGERS);
      g_hash_table_insert (share->senders, sender->name, sender);
    }
  return sender;
}

static void
sender_drop_unused (BusShare *share, Sender *sender)
{
  if (sender->is_kept || sender->used.calls > 0)
    return;
  party_leave (share, sender->party);
  g_hash_table_remove (share->senders, sender->name);
}

/* --- the share --- */

BusShare *
bus_share_new (const BusBounds *bounds)
{
  BusShare *share = g_new0 (BusShare, 1);

  g_atomic_ref_count_init (&share->refs);
  g_mutex_init (&share->lock);
  share->bounds = *bounds;
  share->parties = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, g_free);
  share->senders = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, sender_free);
  return share;
}

BusShare *
bus_share_ref (BusShare *share)
{
  g_atomic_ref_count_inc (&share->refs);
  return share;
}

void
bus_share_unref (BusShare *share)
{
  if (share == NULL || !g_atomic_ref_count_dec (&share->refs))
    return;
  g_hash_table_unref (share->senders);
  g_hash_table_unref (share->parties);
  g_mutex_clear (&share->lock);
  g_free (share);
}

/* As much as @party has must be free as well. */
static gboolean
has_room (gsize all, gsize used, gsize partys, gsize more)
{
  return more <= all - used && partys <= all - used - more;
}

static gboolean
check_room (const BusShare *share, const Sender *sender, const BusAmount *more, GError **error)
{
  const BusAmount *all = &share->bounds.all;
  const BusAmount *used = &share->used;
  const BusAmount *partys = &sender->party->used;
  guint calls = sender->party->id == STRANGERS ? share->bounds.calls_unknown
                                               : share->bounds.calls_known;
  const char *what = NULL;

  if (sender->used.calls >= calls)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                         "%u calls of this connection wait for an answer", calls);
  if (!has_room (all->calls, used->calls, partys->calls, more->calls))
    what = "calls";
  else if (!has_room (all->bytes, used->bytes, partys->bytes, more->bytes))
    what = "bytes";
  else if (!has_room (all->fds, used->fds, partys->fds, more->fds))
    what = "descriptors";
  if (what != NULL)
    return us_error_set (error, US_ERROR_LIMIT_EXCEEDED, US_REASON_LIMIT,
                         "too many %s of this uid wait for an answer, for those that are free",
                         what);
  return TRUE;
}

static guint64
lane_of (const Sender *sender, gsize bytes)
{
  if (sender->party->id == STRANGERS && bytes <= LARGE)
    return STRANGERS - 1;
  return sender->party->id;
}

BusCharge *
bus_share_take (BusShare *share,
                const char *name,
                gsize bytes,
                guint fds,
                guint64 *out_lane,
                GError **error)
{
  const BusAmount amount = { 1, bytes, fds };
  BusCharge *charge = NULL;
  Sender *sender = NULL;

  g_mutex_lock (&share->lock);
  sender = sender_get (share, name);
  if (check_room (share, sender, &amount, error))
    {
      charge = g_new0 (BusCharge, 1);
      charge->share = bus_share_ref (share);
      charge->sender = sender;
      charge->amount = amount;
      amount_add (&share->used, &amount);
      amount_add (&sender->party->used, &amount);
      amount_add (&sender->used, &amount);
      *out_lane = lane_of (sender, bytes);
    }
  else
    sender_drop_unused (share, sender);
  g_mutex_unlock (&share->lock);
  return charge;
}

void
bus_charge_free (gpointer data)
{
  BusCharge *charge = data;
  BusShare *share = NULL;

  if (charge == NULL)
    return;
  share = charge->share;
  g_mutex_lock (&share->lock);
  amount_subtract (&share->used, &charge->amount);
  amount_subtract (&charge->sender->party->used, &charge->amount);
  amount_subtract (&charge->sender->used, &charge->amount);
  sender_drop_unused (share, charge->sender);
  g_mutex_unlock (&share->lock);
  g_free (charge);
  bus_share_unref (share);
}

void
bus_share_know (BusShare *share, const char *name, uid_t uid)
{
  Sender *sender = NULL;

  g_mutex_lock (&share->lock);
  sender = sender_get (share, name);
  if (sender->party->id != uid)
    {
      Party *before = sender->party;

      sender->party = party_join (share, uid);
      amount_add (&sender->party->used, &sender->used);
      amount_subtract (&before->used, &sender->used);
      party_leave (share, before);
    }
  sender->is_kept = TRUE;
  g_mutex_unlock (&share->lock);
}

void
bus_share_forget (BusShare *share, const char *name)
{
  Sender *sender = NULL;

  g_mutex_lock (&share->lock);
  sender = g_hash_table_lookup (share->senders, name);
  if (sender != NULL)
    {
      sender->is_kept = FALSE;
      sender_drop_unused (share, sender);
    }
  g_mutex_unlock (&share->lock);
}

BusAmount
bus_share_used (BusShare *share)
{
  BusAmount used = { 0 };

  g_mutex_lock (&share->lock);
  used = share->used;
  g_mutex_unlock (&share->lock);
  return used;
}
