/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A person who approves each card that waits, with a key that signs at once.  That the module was
 * entered is seen from outside: the null module writes to its marker, which is watched; so the time
 * until then has a wake-up of this process in it.
 */
#include "config.h"

#include "tests/bench/bench.h"

#include "service/base/host.h"
#include "service/record/statement.h"
#include "tests/executor/client.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#define APPROVER "org.undersign1.Approver"
#define PATH "/org/undersign1"
#define PERSON "it.lead"
#define MARKER "/var/lib/undersign-null/marker"

static Client client;
static TestKey *key;
static int watch = -1;
static GHashTable *passed_over; /* paths */

static int
administrator_connect (Client *self, gboolean admin, GError **error)
{
  return handover_connect (UNDERSIGN_RUNTIME_DIR "/executor.sock", 60, error);
}

void
person_start (void)
{
  g_autoptr (GError) error = NULL;
  const struct passwd *entry = getpwnam (PERSON);

  g_assert_nonnull (entry);
  passed_over = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  client.connect = administrator_connect;
  client.host = host_id (&error);
  g_assert_no_error (error);
  key = client_enrol (&client, PERSON, entry->pw_uid);
  watch = inotify_init1 (IN_CLOEXEC);
  if (watch < 0 || inotify_add_watch (watch, MARKER, IN_MODIFY) < 0)
    g_error ("cannot watch %s", MARKER);
  if (initgroups (PERSON, entry->pw_gid) != 0 ||
      setresgid (entry->pw_gid, entry->pw_gid, entry->pw_gid) != 0 ||
      setresuid (entry->pw_uid, entry->pw_uid, entry->pw_uid) != 0)
    g_error ("cannot become " PERSON);
}

static GVariant *
bytes_variant (GBytes *bytes)
{
  return g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, bytes, TRUE);
}

/* What Approve() is called with. */
static GVariant *
approval_new (const char *card)
{
  GVariantDict options;
  g_autoptr (GVariant) reply = NULL;
  g_autoptr (GVariant) array = NULL;
  g_autoptr (GBytes) statement = NULL;
  g_auto (Assertion) assertion = { 0 };
  guint8 challenge[PAE_DIGEST_SIZE];

  g_variant_dict_init (&options, NULL);
  g_variant_dict_insert (&options, "decision", "s", "approve");
  g_variant_dict_insert_value (&options, "credential", bytes_variant (key->passkey->credential));
  reply = call_service (PATH, APPROVER, "GetStatement",
                        g_variant_new ("(o@a{sv})", card, g_variant_dict_end (&options)));
  array = g_variant_get_child_value (reply, 0);
  statement = g_variant_get_data_as_bytes (array);
  statement_challenge (statement, challenge);
  assertion = test_assertion (
      key, test_client_data ("webauthn.get", challenge, sizeof challenge, key->passkey->rp, ""),
      test_auth_data (key->passkey->rp, TEST_FLAGS, 0, NULL));

  g_variant_dict_init (&options, NULL);
  g_variant_dict_insert_value (&options, "credential", bytes_variant (key->passkey->credential));
  g_variant_dict_insert_value (&options, "client-data", bytes_variant (assertion.client_data));
  g_variant_dict_insert_value (&options, "auth-data", bytes_variant (assertion.auth_data));
  g_variant_dict_insert_value (&options, "signature", bytes_variant (assertion.signature));
  return g_variant_ref_sink (g_variant_new ("(o@ay@a{sv})", card, bytes_variant (statement),
                                            g_variant_dict_end (&options)));
}

static void
approve (Series *series, const char *card)
{
  g_autoptr (GVariant) approval = approval_new (card);
  g_autoptr (GVariant) reply = NULL;
  char events[4096];
  double start, entered;

  series_rest (series);
  start = series_clock ();
  reply = call_service (PATH, APPROVER, "Approve", approval);
  series_add (series, start);
  g_assert_cmpint (read (watch, events, sizeof events), >, 0);
  entered = series_clock () - start;
  g_array_append_val (series->more, entered);
}

/* Those that nobody has passed over. */
static GPtrArray *
cards_list (void)
{
  g_autoptr (GVariant) reply =
      call_service (PATH, APPROVER, "Register", g_variant_new_parsed ("(@a{sv} {},)"));
  g_autoptr (GPtrArray) cards = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GVariantIter) listed = NULL;
  const char *card = NULL;

  g_variant_get (reply, "(a(os))", &listed);
  while (g_variant_iter_next (listed, "(&o&s)", &card, NULL))
    if (!g_hash_table_contains (passed_over, card))
      g_ptr_array_add (cards, g_strdup (card));
  return g_steal_pointer (&cards);
}

void
person_approve (Series *series)
{
  g_autoptr (GPtrArray) cards = cards_list ();

  for (guint i = 0; i < cards->len; i++)
    approve (series, g_ptr_array_index (cards, i));
}

void
person_pass_over (Series *series)
{
  g_autoptr (GPtrArray) cards = cards_list ();

  for (guint i = 0; i < cards->len; i++)
    g_hash_table_add (passed_over, g_strdup (g_ptr_array_index (cards, i)));
}
