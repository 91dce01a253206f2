/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who may have how much waiting, and whose turn it is. */
#include "service/base/bus-share.h"
#include "service/base/bus-turns.h"

#include "dbus/error.h"
#include "dbus/reason.h"

static const BusBounds bounds = {
  .calls_known = 10,
  .calls_unknown = 2,
  .all = { 40, 1000, 16 },
};

typedef struct
{
  BusShare *share;
  GPtrArray *charges;
  guint64 lane;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->share = bus_share_new (&bounds);
  fixture->charges = g_ptr_array_new_with_free_func (bus_charge_free);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  BusAmount used = { 0 };

  g_ptr_array_unref (fixture->charges);
  used = bus_share_used (fixture->share);
  g_assert_cmpuint (used.calls + used.bytes + used.fds, ==, 0);
  bus_share_unref (fixture->share);
}

static gboolean
take (Fixture *fixture, const char *sender, gsize bytes, guint fds)
{
  g_autoptr (GError) error = NULL;
  BusCharge *charge = bus_share_take (fixture->share, sender, bytes, fds, &fixture->lane, &error);

  if (charge == NULL)
    {
      g_assert_error (error, US_ERROR, US_ERROR_LIMIT_EXCEEDED);
      g_assert_true (us_error_has_reason (error, US_REASON_LIMIT));
      return FALSE;
    }
  g_assert_no_error (error);
  g_ptr_array_add (fixture->charges, charge);
  return TRUE;
}

/* Takes as many as there are, and says how many. */
static guint
take_all (Fixture *fixture, const char *sender, gsize bytes, guint fds)
{
  guint n = 0;

  while (take (fixture, sender, bytes, fds))
    n++;
  return n;
}

static void
test_connection (Fixture *fixture, gconstpointer data)
{
  g_assert_cmpuint (take_all (fixture, ":1.1", 1, 0), ==, 2);
  bus_share_know (fixture->share, ":1.1", 1000);
  g_assert_cmpuint (take_all (fixture, ":1.1", 1, 0), ==, 8);
  g_ptr_array_remove_index (fixture->charges, 0);
  g_assert_cmpuint (take_all (fixture, ":1.1", 1, 0), ==, 1);
  bus_share_forget (fixture->share, ":1.1");
}

/* Many connections of one uid are one. */
static void
test_uid (Fixture *fixture, gconstpointer data)
{
  guint n = 0;

  for (guint i = 0; i < 10; i++)
    {
      g_autofree char *name = g_strdup_printf (":1.%u", i);

      bus_share_know (fixture->share, name, 1000);
      n += take_all (fixture, name, 1, 0);
    }
  g_assert_cmpuint (n, ==, bounds.all.calls / 2);

  /* What is left is free for another, and half of that for a third. */
  bus_share_know (fixture->share, ":2.1", 1001);
  g_assert_cmpuint (take_all (fixture, ":2.1", 1, 0), ==, 10);
  g_assert_cmpuint (take_all (fixture, ":3.1", 1, 0), ==, 2);
  bus_share_know (fixture->share, ":3.1", 1002);
  g_assert_cmpuint (take_all (fixture, ":3.1", 1, 0), ==, 3);
  for (guint i = 0; i < 10; i++)
    {
      g_autofree char *name = g_strdup_printf (":1.%u", i);

      bus_share_forget (fixture->share, name);
    }
  bus_share_forget (fixture->share, ":2.1");
  bus_share_forget (fixture->share, ":3.1");
}

static void
test_amounts (Fixture *fixture, gconstpointer data)
{
  bus_share_know (fixture->share, ":1.1", 1000);
  bus_share_know (fixture->share, ":2.1", 1001);
  g_assert_false (take (fixture, ":1.1", 1001, 0));
  g_assert_false (take (fixture, ":1.1", 1, 17));
  g_assert_true (take (fixture, ":1.1", 600, 16));
  g_assert_false (take (fixture, ":1.1", 1, 0));
  g_assert_false (take (fixture, ":2.1", 1, 1));
  g_assert_false (take (fixture, ":2.1", 401, 0));
  g_assert_true (take (fixture, ":2.1", 100, 0));
  bus_share_forget (fixture->share, ":1.1");
  bus_share_forget (fixture->share, ":2.1");
}

/* Those whose uid is not known share, and leave the share once it is. */
static void
test_strangers (Fixture *fixture, gconstpointer data)
{
  guint n = 0;

  for (guint i = 0; i < 30; i++)
    {
      g_autofree char *name = g_strdup_printf (":1.%u", i);

      n += take_all (fixture, name, 1, 0);
    }
  g_assert_cmpuint (n, ==, bounds.all.calls / 2);
  bus_share_know (fixture->share, ":2.1", 1000);
  g_assert_true (take (fixture, ":2.1", 1, 0));

  for (guint i = 0; i < 10; i++)
    {
      g_autofree char *name = g_strdup_printf (":1.%u", i);

      bus_share_know (fixture->share, name, 1001);
    }
  g_assert_false (take (fixture, ":1.0", 1, 0));
  g_assert_true (take (fixture, ":2.2", 1, 0));
  for (guint i = 0; i < 10; i++)
    {
      g_autofree char *name = g_strdup_printf (":1.%u", i);

      bus_share_forget (fixture->share, name);
    }
  bus_share_forget (fixture->share, ":2.1");
}

static void
test_lanes (Fixture *fixture, gconstpointer data)
{
  guint64 first = 0;

  g_assert_true (take (fixture, ":1.1", 1, 0));
  first = fixture->lane;
  g_assert_true (take (fixture, ":1.2", 1, 0));
  g_assert_true (fixture->lane == first);
  bus_share_know (fixture->share, ":1.1", 1000);
  bus_share_know (fixture->share, ":1.2", 1000);
  g_assert_true (take (fixture, ":1.1", 1, 0));
  g_assert_false (fixture->lane == first);
  first = fixture->lane;
  g_assert_true (take (fixture, ":1.2", 1, 0));
  g_assert_true (fixture->lane == first);
  bus_share_know (fixture->share, ":1.3", 0);
  g_assert_true (take (fixture, ":1.3", 1, 0));
  g_assert_false (fixture->lane == first);
  for (guint i = 1; i <= 3; i++)
    {
      g_autofree char *name = g_strdup_printf (":1.%u", i);

      bus_share_forget (fixture->share, name);
    }
}

static BusParcel *
parcel (guint64 lane, gsize size, guint32 serial)
{
  BusParcel *new = g_new0 (BusParcel, 1);

  new->lane = lane;
  new->size = size;
  new->serial = serial;
  return new;
}

/* A lane of large calls is behind one of small ones, and each is in its own order. */
static void
test_turns (void)
{
  BusTurns *turns = bus_turns_new ();
  g_autoptr (GString) order = g_string_new (NULL);
  BusParcel *next = NULL;

  g_assert_null (bus_turns_peek (turns));
  g_assert_null (bus_turns_take (turns));
  for (guint32 i = 0; i < 3; i++)
    bus_turns_add (turns, parcel (1, 500 * 1024, i));
  for (guint32 i = 3; i < 6; i++)
    bus_turns_add (turns, parcel (2, 100, i));
  bus_turns_add (turns, parcel (3, 500 * 1024, 6));
  while ((next = bus_turns_take (turns)) != NULL)
    {
      g_string_append_printf (order, "%u", next->serial);
      bus_parcel_free (next);
    }
  g_assert_cmpstr (order->str, ==, "3450612");
  bus_turns_free (turns);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/bus-share/connection", Fixture, NULL, set_up, test_connection, tear_down);
  g_test_add ("/bus-share/uid", Fixture, NULL, set_up, test_uid, tear_down);
  g_test_add ("/bus-share/amounts", Fixture, NULL, set_up, test_amounts, tear_down);
  g_test_add ("/bus-share/strangers", Fixture, NULL, set_up, test_strangers, tear_down);
  g_test_add ("/bus-share/lanes", Fixture, NULL, set_up, test_lanes, tear_down);
  g_test_add_func ("/bus-share/turns", test_turns);
  return g_test_run ();
}
