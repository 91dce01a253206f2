/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passkeys in a real keyring, GNOME's, on a session bus and in a home of the test's own.  It is gone at
 * each call that is made of it, before it has heard it or before it has answered; and it is locked.
 */
#include "module/card/key/software.h"
#include "module/card/key/store.h"
#include "module/card/key/stored-key.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "tests/card/folder.h"
#include "tests/card/once.h"
#include "tests/card/software.h"

#include <fcntl.h>
#include <gio/gio.h>
#include <libsecret/secret.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define DAEMON "gnome-keyring-daemon"
#define SERVICE "org.freedesktop.secrets"
#define PASSPHRASE "correct horse battery"
#define CALLS_MAX 100

typedef struct Fixture Fixture;

struct Fixture
{
  char *folder;
  GSubprocess *daemon;
  GDBusConnection *bus;
  void (*meanwhile) (Fixture *fixture); /* while the person types */
  Passkey *passkey;
};

/* --- a keyring that is gone --- */

static struct
{
  enum
  {
    HERE,
    UNHEARD,    /* it does not hear the call */
    UNANSWERED, /* it does what it is asked for, but its answer is lost */
  } way;
  guint at, seen; /* calls */
  guint32 serial; /* of the call that is not answered */
} loss;

/* As the bus says of one that leaves. */
static GDBusMessage *
make_lost (GDBusMessage *message)
{
  GDBusMessage *lost = g_dbus_message_new ();

  g_dbus_message_set_message_type (lost, G_DBUS_MESSAGE_TYPE_ERROR);
  g_dbus_message_set_reply_serial (lost, g_dbus_message_get_reply_serial (message));
  g_dbus_message_set_error_name (lost, "org.freedesktop.DBus.Error.NoReply");
  g_object_unref (message);
  return lost;
}

/* In the connection's thread; the test waits for a reply meanwhile. */
static GDBusMessage *
on_message (GDBusConnection *bus, GDBusMessage *message, gboolean incoming, gpointer data)
{
  GDBusMessage *copy = NULL;

  if (incoming)
    return loss.serial != 0 && g_dbus_message_get_reply_serial (message) == loss.serial
               ? make_lost (message)
               : message;
  if (g_dbus_message_get_message_type (message) != G_DBUS_MESSAGE_TYPE_METHOD_CALL ||
      !g_str_has_prefix (g_dbus_message_get_path (message), "/org/freedesktop/secrets"))
    return message;
  loss.seen++;
  if (loss.way == UNANSWERED && loss.seen == loss.at)
    loss.serial = g_dbus_message_get_serial (message);
  if (loss.way == HERE || loss.seen < loss.at || (loss.way == UNANSWERED && loss.seen == loss.at))
    return message;
  copy = g_dbus_message_copy (message, NULL);
  g_object_unref (message);
  g_dbus_message_set_destination (copy, "org.undersign.Nobody");
  return copy;
}

static void
lose (int way, guint at)
{
  loss.way = way;
  loss.at = at;
  loss.seen = loss.serial = 0;
}

/* Whether it came to it. */
static gboolean
was_lost (void)
{
  const gboolean lost = loss.seen >= loss.at;

  lose (HERE, 0);
  return lost;
}

/* --- the daemon --- */

static void
set_up (Fixture *fixture, gconstpointer data)
{
  const char *argv[] = { DAEMON, "--foreground", "--unlock", "--components=secrets", NULL };
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (
      G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_SILENCE);
  g_autofree char *run = NULL;
  g_autoptr (GError) error = NULL;
  gsize written;

  fixture->folder = test_folder_new ();
  run = g_build_filename (fixture->folder, "run", NULL);
  g_assert_cmpint (g_mkdir (run, 0700), ==, 0);
  g_subprocess_launcher_setenv (launcher, "HOME", fixture->folder, TRUE);
  g_subprocess_launcher_setenv (launcher, "XDG_DATA_HOME", fixture->folder, TRUE);
  g_subprocess_launcher_setenv (launcher, "XDG_RUNTIME_DIR", run, TRUE);
  fixture->bus = g_bus_get_sync (G_BUS_TYPE_SESSION, NULL, &error);
  g_assert_no_error (error);

  fixture->daemon = g_subprocess_launcher_spawnv (launcher, argv, &error);
  g_assert_no_error (error);
  g_output_stream_write_all (g_subprocess_get_stdin_pipe (fixture->daemon), "login", 5, &written,
                             NULL, &error);
  g_assert_no_error (error);
  g_output_stream_close (g_subprocess_get_stdin_pipe (fixture->daemon), NULL, NULL);
}

static gboolean
is_owned (GDBusConnection *bus)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply = g_dbus_connection_call_sync (
      bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner",
      g_variant_new ("(s)", SERVICE), G_VARIANT_TYPE ("(b)"), 0, -1, NULL, &error);
  gboolean owned = FALSE;

  g_assert_no_error (error);
  g_variant_get (reply, "(b)", &owned);
  return owned;
}

/* Nothing of it is left, on the bus or in libsecret. */
static void
end_daemon (Fixture *fixture, int number)
{
  g_subprocess_send_signal (fixture->daemon, number);
  g_subprocess_wait (fixture->daemon, NULL, NULL);
  g_clear_object (&fixture->daemon);
  while (is_owned (fixture->bus))
    g_usleep (1000);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  if (fixture->daemon != NULL)
    end_daemon (fixture, SIGTERM);
  secret_service_disconnect ();
  g_clear_object (&fixture->bus);
  g_clear_pointer (&fixture->passkey, passkey_free);
  test_folder_remove (fixture->folder);
  g_free (fixture->folder);
}

/* The daemon takes the name when it is ready. */
static Store *
open_keyring (void)
{
  for (guint i = 0; i < 600; i++)
    {
      Store *store = store_keyring_open ();

      if (store != NULL)
        return store;
      g_usleep (G_USEC_PER_SEC / 10);
    }
  g_assert_not_reached ();
}

static void
assert_content (Store *store, const char *name, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = store->klass->load (store, name, &error);

  g_assert_no_error (error);
  g_assert_true ((bytes == NULL) == (expected == NULL));
  if (bytes != NULL)
    g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), expected,
                     strlen (expected));
}

static void
test_keyring (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Store) store = open_keyring ();
  g_autoptr (GBytes) first = g_bytes_new_static ("{\"a\":1}", 7);
  g_autoptr (GBytes) second = g_bytes_new_static ("{\"a\":2}", 7);
  g_autoptr (GPtrArray) names = NULL;
  g_autoptr (GError) error = NULL, twice = NULL, absent = NULL;

  g_assert_cmpstr (store->klass->place, ==, "keyring");
  assert_content (store, "one", NULL);
  g_assert_true (store->klass->save (store, "one", "Laptop", first, FALSE, &error));
  g_assert_no_error (error);
  g_assert_true (store->klass->save (store, "two", "Other", second, FALSE, &error));
  assert_content (store, "one", "{\"a\":1}");

  /* new means new, and changed means that it was there */
  g_assert_false (store->klass->save (store, "one", "Laptop", second, FALSE, &twice));
  g_assert_true (us_error_has_reason (twice, US_REASON_KEY_STORE));
  g_assert_false (store->klass->save (store, "three", "Laptop", second, TRUE, &absent));
  g_assert_true (us_error_has_reason (absent, US_REASON_KEY_STORE));
  g_assert_true (store->klass->save (store, "one", "Laptop", second, TRUE, &error));
  assert_content (store, "one", "{\"a\":2}");

  names = store->klass->list (store, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (names->len, ==, 2);
  g_assert_cmpstr (g_ptr_array_index (names, 0), ==, "one");
  g_assert_cmpstr (g_ptr_array_index (names, 1), ==, "two");

  g_assert_true (store->klass->remove (store, "one", &error));
  assert_content (store, "one", NULL);
  assert_content (store, "two", "{\"a\":2}");
}

/* --- gone, and locked --- */

static GBytes *
content_of (Store *store, const char *name)
{
  g_autoptr (GError) error = NULL;
  GBytes *bytes = store->klass->load (store, name, &error);

  g_assert_no_error (error);
  return bytes;
}

static void
assert_failed (gboolean ok, GError *error)
{
  g_assert_false (ok);
  g_assert_nonnull (error);
  g_test_message ("%s", error->message);
  g_assert_true (us_error_has_reason (error, US_REASON_KEY_STORE));
}

enum
{
  DO_LOAD,
  DO_LIST,
  DO_SAVE_NEW,
  DO_REPLACE,
  DO_REMOVE,
  DO_N,
};

/* One operation; what it is told is so. */
static gboolean
operate (Store *store, guint what, GBytes *old, GBytes *new, GError **error)
{
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GPtrArray) names = NULL;

  switch (what)
    {
    case DO_LOAD:
      bytes = store->klass->load (store, "old", error);
      g_assert_true (bytes == NULL || g_bytes_equal (bytes, old));
      return bytes != NULL;
    case DO_LIST:
      names = store->klass->list (store, error);
      g_assert_true (names == NULL || names->len == 1);
      return names != NULL;
    case DO_SAVE_NEW:
      return store->klass->save (store, "new", "Laptop", new, FALSE, error);
    case DO_REPLACE:
      return store->klass->save (store, "old", "Laptop", new, TRUE, error);
    default:
      return store->klass->remove (store, "old", error);
    }
}

/* The old one or the new one, whole, and the new one where that was said. */
static void
look_and_restore (Store *store, guint what, gboolean done, GBytes *old, GBytes *new)
{
  g_autoptr (GBytes) found = content_of (store, "old");
  g_autoptr (GBytes) made = content_of (store, "new");
  const gboolean replaced = found != NULL && g_bytes_equal (found, new);

  g_assert_true (made == NULL || g_bytes_equal (made, new));
  g_assert_true (found == NULL || replaced || g_bytes_equal (found, old));
  if (done)
    {
      g_assert_true ((made != NULL) == (what == DO_SAVE_NEW));
      g_assert_true (replaced == (what == DO_REPLACE));
    }
  g_assert_true ((found != NULL && !replaced) || what == DO_REPLACE || what == DO_REMOVE);
  if (done && what == DO_REMOVE)
    g_assert_null (found);
  if (made != NULL)
    g_assert_true (store->klass->remove (store, "new", NULL));
  if (found == NULL || replaced)
    g_assert_true (store->klass->save (store, "old", "Laptop", old, found != NULL, NULL));
}

static void
test_gone (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Store) store = open_keyring ();
  g_autoptr (GBytes) old = g_bytes_new_static ("{\"a\":1}", 7);
  g_autoptr (GBytes) new = g_bytes_new_static ("{\"a\":2}", 7);
  const guint filter = g_dbus_connection_add_filter (fixture->bus, on_message, NULL, NULL);

  g_assert_true (store->klass->save (store, "old", "Laptop", old, FALSE, NULL));
  for (guint what = 0; what < DO_N; what++)
    for (int way = UNHEARD; way <= UNANSWERED; way++)
      for (guint at = 1;; at++)
        {
          g_autoptr (GError) error = NULL;
          gboolean done = FALSE;

          g_assert_cmpuint (at, <, CALLS_MAX);
          lose (way, at);
          done = operate (store, what, old, new, &error);
          if (!was_lost ())
            {
              g_assert_no_error (error);
              look_and_restore (store, what, done, old, new);
              g_test_message ("operation %u, way %d: %u calls", what, way, at - 1);
              g_assert_cmpuint (at, >, 1);
              break;
            }
          assert_failed (done, error);
          look_and_restore (store, what, done, old, new);
        }
  g_dbus_connection_remove_filter (fixture->bus, filter);
}

static void
call_service (Fixture *fixture, const char *member, GVariant *parameters)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) reply = g_dbus_connection_call_sync (
      fixture->bus, SERVICE, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service", member,
      parameters, NULL, 0, -1, NULL, &error);

  g_assert_no_error (error);
}

/* Whoever unlocks it would be asked by a program that is not here. */
static void
lock (Fixture *fixture)
{
  call_service (fixture, "Lock",
                g_variant_new_parsed ("([objectpath '/org/freedesktop/secrets/collection/login'],)"));
}

static void
test_locked (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Store) store = open_keyring ();
  g_autoptr (GBytes) old = g_bytes_new_static ("{\"a\":1}", 7);
  g_autoptr (GBytes) new = g_bytes_new_static ("{\"a\":2}", 7);

  g_assert_true (store->klass->save (store, "old", "Laptop", old, FALSE, NULL));
  lock (fixture);
  for (guint what = 0; what < DO_N; what++)
    {
      g_autoptr (GError) error = NULL;
      gboolean done = operate (store, what, old, new, &error);

      if (what == DO_LIST) /* names are not secret */
        g_assert_no_error (error);
      else
        assert_failed (done, error);
    }
}

static void
test_ended (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Store) store = open_keyring ();
  g_autoptr (GBytes) old = g_bytes_new_static ("{\"a\":1}", 7);

  g_assert_true (store->klass->save (store, "old", "Laptop", old, FALSE, NULL));
  end_daemon (fixture, SIGKILL);
  for (guint what = 0; what < DO_N; what++)
    {
      g_autoptr (GError) error = NULL;
      gboolean done = operate (store, what, old, old, &error);

      assert_failed (done, error);
    }
}

/* --- signing --- */

static Secret *
ask (KeyPrompt prompt, const KeyInfo *info, int tries, gpointer data, GError **error)
{
  Fixture *fixture = data;
  void (*meanwhile) (Fixture *fixture) = fixture->meanwhile;

  fixture->meanwhile = NULL;
  if (meanwhile != NULL)
    meanwhile (fixture);
  return secret_new_from (PASSPHRASE, strlen (PASSPHRASE));
}

static Key *
open_key (Fixture *fixture)
{
  g_autofree char *folder = g_build_filename (fixture->folder, "passkeys", NULL);
  g_autoptr (GError) error = NULL;
  Key *key = software_key_new (folder, SOFTWARE_KEY_ANYWHERE, ask, fixture, &error);

  g_assert_no_error (error);
  return key;
}

/* No counter is given out twice, whatever was heard of it. */
static void
test_sign_gone (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Store) store = open_keyring ();
  g_autoptr (Key) key = open_key (fixture);
  g_autoptr (GError) failure = NULL;
  guint filter = 0;

  fixture->passkey = test_key_enrol (key, NULL, &failure);
  g_assert_no_error (failure);
  filter = g_dbus_connection_add_filter (fixture->bus, on_message, NULL, NULL);
  for (int way = UNHEARD; way <= UNANSWERED; way++)
    for (guint at = 1;; at++)
      {
        g_autoptr (GError) error = NULL;
        guint32 counter = 0;

        g_assert_cmpuint (at, <, CALLS_MAX);
        lose (way, at);
        counter = test_key_sign (key, fixture->passkey, &error);
        if (!was_lost ())
          {
            g_assert_no_error (error);
            g_assert_cmpuint (at, >, 1);
            break;
          }
        assert_failed (counter != 0, error);
        test_key_sign (key, fixture->passkey, &failure);
        g_assert_no_error (failure);
      }
  g_dbus_connection_remove_filter (fixture->bus, filter);
}

static void
sign_meanwhile (Fixture *fixture)
{
  g_autoptr (Key) key = open_key (fixture);

  g_assert_cmpuint (test_key_sign (key, fixture->passkey, NULL), ==, 1);
}

static void
damage_meanwhile (Fixture *fixture)
{
  g_autoptr (Store) store = store_keyring_open ();
  g_autofree char *name = stored_key_name (fixture->passkey->credential);
  g_autoptr (GBytes) bytes = g_bytes_new_static ("{\"a\":1}", 7);

  g_assert_true (store->klass->save (store, name, "Laptop", bytes, TRUE, NULL));
}

static void
forget_meanwhile (Fixture *fixture)
{
  g_autoptr (Store) store = store_keyring_open ();
  g_autofree char *name = stored_key_name (fixture->passkey->credential);

  g_assert_true (store->klass->remove (store, name, NULL));
}

static void
lock_meanwhile (Fixture *fixture)
{
  lock (fixture);
}

static void
test_meanwhile (Fixture *fixture, gconstpointer data)
{
  static const struct
  {
    void (*meanwhile) (Fixture *fixture);
    guint32 counter;
    const char *reason;
  } rows[] = {
    { sign_meanwhile, 2, NULL },
    { damage_meanwhile, 0, US_REASON_KEY_STORE },
    { forget_meanwhile, 0, US_REASON_CREDENTIAL_UNKNOWN },
    { lock_meanwhile, 0, US_REASON_KEY_STORE },
  };
  g_autoptr (Store) store = open_keyring ();
  g_autoptr (Key) key = open_key (fixture);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;

      g_clear_pointer (&fixture->passkey, passkey_free);
      fixture->passkey = test_key_enrol (key, NULL, &error);
      g_assert_no_error (error);
      fixture->meanwhile = rows[i].meanwhile;
      g_assert_cmpuint (test_key_sign (key, fixture->passkey, &error), ==, rows[i].counter);
      if (rows[i].reason != NULL)
        g_assert_true (us_error_has_reason (error, rows[i].reason));
    }
}

static const SecretSchema schema = {
  .name = "org.undersign.Passkey",
  .attributes = { { "credential", SECRET_SCHEMA_ATTRIBUTE_STRING } },
};

/* New ones go to another keyring by now: the counter is raised where it is, and of two nobody knows. */
static void
test_two_keyrings (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Store) store = open_keyring ();
  g_autoptr (GBytes) first = g_bytes_new_static ("{\"a\":1}", 7);
  g_autoptr (GBytes) second = g_bytes_new_static ("{\"a\":2}", 7);
  g_autoptr (GHashTable) attributes = NULL;
  g_autoptr (GError) error = NULL, two = NULL;
  SecretService *service = secret_service_get_sync (SECRET_SERVICE_OPEN_SESSION, NULL, NULL);
  SecretValue *value = secret_value_new ("{}", 2, "application/json");

  g_assert_true (store->klass->save (store, "one", "Laptop", first, FALSE, NULL));
  call_service (fixture, "SetAlias", g_variant_new ("(so)", "default", "/"));
  g_assert_true (store->klass->save (store, "one", "Laptop", second, TRUE, &error));
  g_assert_no_error (error);
  assert_content (store, "one", "{\"a\":2}");

  attributes = secret_attributes_build (&schema, "credential", "one", NULL);
  g_assert_true (secret_service_store_sync (service, &schema, attributes,
                                            SECRET_COLLECTION_SESSION, "another", value, NULL,
                                            &error));
  g_assert_no_error (error);
  g_assert_null (store->klass->load (store, "one", &two));
  assert_failed (FALSE, two);
  /* removed for good is removed from both */
  g_assert_true (store->klass->remove (store, "one", &error));
  g_assert_no_error (error);
  assert_content (store, "one", NULL);
  secret_value_unref (value);
  g_object_unref (service);
}

/* Beside the one in the default keyring. */
static void
add_second (const Passkey *passkey)
{
  g_autofree char *name = stored_key_name (passkey->credential);
  g_autoptr (GHashTable) attributes = secret_attributes_build (&schema, "credential", name, NULL);
  g_autoptr (GError) error = NULL;
  SecretValue *value = secret_value_new ("{}", 2, "application/json");

  g_assert_true (secret_service_store_sync (NULL, &schema, attributes, SECRET_COLLECTION_SESSION,
                                            "another", value, NULL, &error));
  g_assert_no_error (error);
  secret_value_unref (value);
}

/* The one in the keyring is listed once, as one that cannot be read; the one in a file is picked. */
static void
assert_unreadable (Key *key, const Passkey *passkey, const Passkey *filed)
{
  g_autoptr (GError) error = NULL, strict = NULL;
  g_autoptr (GPtrArray) infos = key_list (key, &error);
  g_autoptr (GPtrArray) credentials = g_ptr_array_new ();
  guint index = 0;

  g_assert_no_error (error);
  g_assert_cmpuint (infos->len, ==, 2);
  for (guint i = 0; i < infos->len; i++)
    {
      const KeyInfo *info = g_ptr_array_index (infos, i);
      const Passkey *expected = info->fault != NULL ? passkey : filed;

      g_assert_true (g_bytes_equal (info->credential, expected->credential));
      g_assert_cmpstr (info->place, ==, info->fault != NULL ? "keyring" : "file");
    }
  g_ptr_array_add (credentials, passkey->credential);
  g_assert_false (key_pick (key, credentials, TEST_KEY_RP, &index, &strict));
  assert_failed (FALSE, strict);
  g_ptr_array_add (credentials, filed->credential);
  g_assert_true (key_pick (key, credentials, TEST_KEY_RP, &index, &error));
  g_assert_cmpuint (index, ==, 1);
}

/* Neither two of one id nor a locked one hide what is in a file; the two can be removed, the locked one
 * stays where it is. */
static void
test_unreadable (Fixture *fixture, gconstpointer data)
{
  g_autofree char *folder = g_build_filename (fixture->folder, "passkeys", NULL);
  g_autoptr (Store) store = open_keyring ();
  g_autoptr (Key) file = software_key_new (folder, SOFTWARE_KEY_FILE, ask, fixture, NULL);
  g_autoptr (Key) key = open_key (fixture);
  g_autoptr (Passkey) filed = test_key_enrol (file, NULL, NULL);
  g_autoptr (Passkey) twice = test_key_enrol (key, NULL, NULL);
  g_autofree char *name = stored_key_name (twice->credential);
  g_autoptr (GError) error = NULL, strict = NULL, locked = NULL;

  add_second (twice);
  assert_unreadable (key, twice, filed);
  g_assert_cmpuint (test_key_sign (key, twice, &strict), ==, 0);
  assert_failed (FALSE, strict);
  g_assert_true (key_forget (key, twice->credential, &error));
  g_assert_no_error (error);
  assert_content (store, name, NULL);

  fixture->passkey = test_key_enrol (key, NULL, NULL);
  lock (fixture);
  assert_unreadable (key, fixture->passkey, filed);
  g_assert_false (key_forget (key, fixture->passkey->credential, &locked));
  assert_failed (FALSE, locked);
  g_assert_cmpuint (test_key_sign (key, filed, &error), ==, 1);
  g_assert_no_error (error);
}

/* --- asking --- */

static struct
{
  char *folder;
  gint asked, held; /* atomic: for how many unlockings the person was; and while others had to wait */
} question;

/* In the connection's thread: what the keyring would ask the person for. */
static GDBusMessage *
on_question (GDBusConnection *bus, GDBusMessage *message, gboolean incoming, gpointer data)
{
  static const char *const questions[] = { "Unlock", "Prompt", "Delete", NULL };
  const char *member = g_dbus_message_get_member (message);
  int fd = -1;

  if (incoming || member == NULL || !g_strv_contains (questions, member))
    return message;
  if (g_str_equal (member, "Unlock"))
    g_atomic_int_inc (&question.asked);
  fd = open (question.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || flock (fd, LOCK_EX | LOCK_NB) != 0)
    g_atomic_int_inc (&question.held);
  if (fd >= 0)
    close (fd);
  return message;
}

static void
assert_asked_apart (void)
{
  g_assert_cmpint (g_atomic_int_get (&question.asked), ==, 1);
  g_assert_cmpint (g_atomic_int_get (&question.held), ==, 0);
  g_atomic_int_set (&question.asked, 0);
}

/* What a command of its own comes to, which asks once and is told no. */
static void
assert_asks (Fixture *fixture, gboolean (*step) (Key *key, Passkey *passkey, GError **error))
{
  g_autoptr (Key) key = open_key (fixture);
  g_autoptr (GError) error = NULL;

  g_assert_false (step (key, fixture->passkey, &error));
  assert_failed (FALSE, error);
  assert_asked_apart ();
}

static gboolean
step_sign (Key *key, Passkey *passkey, GError **error)
{
  return test_key_sign (key, passkey, error) != 0;
}

static gboolean
step_forget (Key *key, Passkey *passkey, GError **error)
{
  return key_forget (key, passkey->credential, error);
}

static gboolean
step_enrol (Key *key, Passkey *passkey, GError **error)
{
  return test_key_enrol (key, NULL, error) != NULL;
}

/* No other process waits for who is asked to unlock the keyring: before signing, after the passphrase,
 * for a removal and for a new one. */
static void
test_asked (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Store) store = open_keyring ();
  g_autoptr (Key) key = open_key (fixture);
  g_autoptr (Passkey) other = test_key_enrol (key, NULL, NULL);
  g_autoptr (GError) error = NULL;
  guint filter = 0;

  question.folder = g_build_filename (fixture->folder, "passkeys", NULL);
  fixture->passkey = test_key_enrol (key, NULL, &error);
  g_assert_no_error (error);
  filter = g_dbus_connection_add_filter (fixture->bus, on_question, NULL, NULL);
  g_assert_true (step_forget (key, other, &error)); /* which some keyrings ask about */
  g_assert_cmpint (g_atomic_int_get (&question.held), ==, 0);
  fixture->meanwhile = lock_meanwhile;
  assert_asks (fixture, step_sign); /* locked after the passphrase */
  assert_asks (fixture, step_sign);
  assert_asks (fixture, step_forget);
  assert_asks (fixture, step_enrol);
  g_dbus_connection_remove_filter (fixture->bus, filter);
  g_free (question.folder);
}

/* Whoever has said no is not asked again by the same command. */
static void
test_asked_once (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Store) store = open_keyring ();
  g_autoptr (Key) before = open_key (fixture), key = open_key (fixture);
  g_autoptr (Passkey) other = test_key_enrol (before, NULL, NULL);
  g_autoptr (GPtrArray) infos = NULL;
  g_autoptr (GError) error = NULL, sign = NULL;
  guint filter = 0;

  question.folder = g_build_filename (fixture->folder, "passkeys", NULL);
  fixture->passkey = test_key_enrol (before, NULL, NULL);
  lock (fixture);
  filter = g_dbus_connection_add_filter (fixture->bus, on_question, NULL, NULL);
  infos = key_list (key, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (infos->len, ==, 2);
  for (guint i = 0; i < infos->len; i++)
    g_assert_nonnull (((const KeyInfo *) g_ptr_array_index (infos, i))->fault);
  g_assert_cmpuint (test_key_sign (key, other, &sign), ==, 0);
  assert_failed (FALSE, sign);
  assert_asked_apart ();
  assert_asks (fixture, step_sign);
  g_dbus_connection_remove_filter (fixture->bus, filter);
  g_free (question.folder);
}

int
main (int argc, char **argv)
{
  g_autofree char *program = g_find_program_in_path (DAEMON);
  g_autoptr (GDBusConnection) bus = NULL;
  GTestDBus *the_bus = NULL;
  int result = 1;

  test_folder_in_memory ();
  g_test_init (&argc, &argv, NULL);
  if (program == NULL)
    {
      g_print ("1..0 # SKIP " DAEMON " is not installed\n");
      return 0;
    }
  the_bus = g_test_dbus_new (G_TEST_DBUS_NONE);
  g_test_dbus_up (the_bus);
  bus = g_bus_get_sync (G_BUS_TYPE_SESSION, NULL, NULL);
  g_dbus_connection_set_exit_on_close (bus, FALSE);
#define ADD(path, function)                                                                        \
  g_test_add ("/keyring/" path, Fixture, NULL, set_up, function, tear_down)
  ADD ("keyring", test_keyring);
  ADD ("gone", test_gone);
  ADD ("ended", test_ended);
  ADD ("locked", test_locked);
  ADD ("sign-gone", test_sign_gone);
  ADD ("meanwhile", test_meanwhile);
  ADD ("two-keyrings", test_two_keyrings);
  ADD ("unreadable", test_unreadable);
  ADD ("asked", test_asked);
  ADD ("asked-once", test_asked_once);
  result = g_test_run ();
  test_once_clear ();
  g_clear_object (&bus);
  g_test_dbus_down (the_bus);
  g_object_unref (the_bus);
  return result;
}
