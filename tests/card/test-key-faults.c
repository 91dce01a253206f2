/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The software passkey on a disk that fails, and killed: at each operation on its folder, in each way,
 * while one is made, used, removed or listed.  What is there afterwards is whole and usable, and no
 * counter is given out that is not stored.  Who is killed is a process of its own; the costly part of
 * the cryptography is done once.
 */
#include "module/card/key/software.h"
#include "module/card/key/store.h"
#include "module/card/key/stored-key.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "tests/card/folder.h"
#include "tests/card/once.h"
#include "tests/card/software.h"
#include "tests/fault/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PASSPHRASE "correct horse battery"
#define LEFT ".left-by-one-that-was-killed.new"
#define CASES_MAX 200
#define CHANGES                                                                                    \
  (FAULT_CREATE | FAULT_WRITE | FAULT_SYNC | FAULT_TRUNCATE | FAULT_RENAME | FAULT_LINK |          \
   FAULT_MKDIR)
#define ALL                                                                                        \
  (CHANGES | FAULT_OPEN | FAULT_READ | FAULT_UNLINK | FAULT_LOCK | FAULT_LIST | FAULT_OWNER)

static Fault *fault;

static const struct Kind
{
  const char *name;
  guint32 action, operations;
  int error;
  gboolean sticky;
} kinds[] = {
  { "ENOSPC once", FAULT_FAIL, CHANGES, ENOSPC, FALSE },
  { "ENOSPC, and it stays full", FAULT_FAIL, CHANGES, ENOSPC, TRUE },
  { "EIO once", FAULT_FAIL, ALL, EIO, FALSE },
  { "EIO, and it stays broken", FAULT_FAIL, ALL, EIO, TRUE },
  { "a torn write", FAULT_TORN, FAULT_WRITE, EIO, FALSE },
  { "a short write", FAULT_SHORT, FAULT_WRITE, 0, FALSE },
  { "kill -9", FAULT_KILL, ALL, 0, FALSE },
  { "kill -9 in a write", FAULT_TORN_KILL, FAULT_WRITE, 0, FALSE },
};

/* --- the folder: two keys, and what one that was killed left of the first --- */

typedef struct Fixture Fixture;

struct Fixture
{
  char *top, *folder;
  Passkey *keys[2];
  GBytes *files[2];
  void (*meanwhile) (Fixture *fixture); /* while the person types */
};

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
  g_autoptr (GError) error = NULL;
  Key *key = software_key_new (fixture->folder, SOFTWARE_KEY_FILE, ask, fixture, &error);

  g_assert_no_error (error);
  return key;
}

static char *
path_of (const Fixture *fixture, const Passkey *passkey)
{
  g_autofree char *name = stored_key_name (passkey->credential);

  return g_strdup_printf ("%s/%s.passkey", fixture->folder, name);
}

static void
put (const char *path, GBytes *bytes)
{
  g_autoptr (GError) error = NULL;
  gsize len;
  const char *data = g_bytes_get_data (bytes, &len);

  g_file_set_contents_full (path, data, (gssize) len, G_FILE_SET_CONTENTS_NONE, 0600, &error);
  g_assert_no_error (error);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autofree char *top = test_folder_new ();
  g_autoptr (Key) key = NULL;
  g_autoptr (GError) error = NULL;

  fixture->top = realpath (top, NULL);
  fixture->folder = g_build_filename (fixture->top, "undersign", "passkeys", NULL);
  key = open_key (fixture);
  for (guint i = 0; i < G_N_ELEMENTS (fixture->keys); i++)
    {
      g_autofree char *path = NULL;
      char *text = NULL;
      gsize len = 0;

      fixture->keys[i] = test_key_enrol (key, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (test_key_sign (key, fixture->keys[i], &error), ==, 1);
      path = path_of (fixture, fixture->keys[i]);
      g_assert_true (g_file_get_contents (path, &text, &len, NULL));
      fixture->files[i] = g_bytes_new_take (text, len);
    }
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < G_N_ELEMENTS (fixture->keys); i++)
    {
      passkey_free (fixture->keys[i]);
      g_bytes_unref (fixture->files[i]);
    }
  test_folder_remove (fixture->top);
  g_free (fixture->folder);
  free (fixture->top);
}

/* As it was, or, with nothing, not even the folder. */
static void
begin_anew (Fixture *fixture, gboolean nothing)
{
  g_autofree char *parent = g_path_get_dirname (fixture->folder);
  g_autofree char *left = g_build_filename (fixture->folder, LEFT, NULL);

  if (g_file_test (parent, G_FILE_TEST_IS_DIR))
    test_folder_remove (parent);
  if (nothing)
    return;
  g_assert_no_errno (g_mkdir_with_parents (fixture->folder, 0700));
  for (guint i = 0; i < G_N_ELEMENTS (fixture->keys); i++)
    {
      g_autofree char *path = path_of (fixture, fixture->keys[i]);

      put (path, fixture->files[i]);
      fixture->keys[i]->counter = 1;
    }
  put (left, fixture->files[0]);
}

/* --- one case --- */

/* What the child tells. */
typedef struct
{
  guint32 counter; /* that a signature had */
  guint n_listed;
  gboolean named; /* the error has its reason, the folder and what the system said */
  char error[512];
} Told;

typedef struct
{
  const char *name;
  gboolean nothing; /* is there before */
  gboolean (*run) (Fixture *fixture, Key *key, Told *told, GError **error);
  void (*look) (Fixture *fixture, gboolean done, gboolean killed, gboolean sticky);
} Step;

static Told *told;

static void
arm (const Fixture *fixture, const struct Kind *kind, guint32 at)
{
  memset (fault, 0, offsetof (Fault, met));
  fault->roles = FAULT_OTHER;
  fault->operations = kind->operations;
  fault->error = kind->error;
  fault->sticky = kind->sticky;
  fault->at = at;
  g_strlcpy (fault->prefix, fixture->top, sizeof fault->prefix);
  __atomic_store_n (&fault->action, kind->action, __ATOMIC_SEQ_CST);
}

static void
disarm (void)
{
  __atomic_store_n (&fault->action, FAULT_NOTHING, __ATOMIC_SEQ_CST);
}

/* What a process does that is harmed. */
static gboolean
attempt (Fixture *fixture, const Step *step, const struct Kind *kind, guint32 at)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Key) key = NULL;
  const mode_t mask = umask (0); /* what is private is so by itself */
  gboolean done = FALSE;

  arm (fixture, kind, at);
  key = software_key_new (fixture->folder, SOFTWARE_KEY_FILE, ask, fixture, &error);
  done = key != NULL && step->run (fixture, key, told, &error);
  disarm ();
  umask (mask);
  g_assert_true (done == (error == NULL));
  if (!done)
    {
      g_strlcpy (told->error, error->message, sizeof told->error);
      told->named = us_error_has_reason (error, US_REASON_KEY_STORE) &&
                    strstr (error->message, fixture->folder) != NULL &&
                    strstr (error->message, g_strerror (kind->error)) != NULL;
    }
  return done;
}

/* In a process of its own.  Returns whether it was killed. */
static gboolean
attempt_to_death (
    Fixture *fixture, const Step *step, const struct Kind *kind, guint32 at, gboolean *out_done)
{
  const pid_t child = fork ();
  int status = 0;

  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    _exit (attempt (fixture, step, kind, at) ? 0 : 1);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  disarm ();
  if (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL)
    return TRUE;
  g_assert_true (WIFEXITED (status) && WEXITSTATUS (status) <= 1);
  *out_done = WEXITSTATUS (status) == 0;
  return FALSE;
}

/* Nothing, at no moment, that others could read. */
static void
check_private (const char *path)
{
  struct stat info;

  g_assert_no_errno (lstat (path, &info));
  g_assert_cmpuint (info.st_mode & 07777, ==, S_ISDIR (info.st_mode) ? 0700 : 0600);
  if (S_ISDIR (info.st_mode))
    {
      g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
      const char *name;

      while ((name = g_dir_read_name (dir)) != NULL)
        {
          g_autofree char *inner = g_build_filename (path, name, NULL);

          check_private (inner);
        }
    }
}

static guint
count_unfinished (const Fixture *fixture)
{
  g_autoptr (GDir) dir = g_dir_open (fixture->folder, 0, NULL);
  const char *name;
  guint n = 0;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    n += g_str_has_suffix (name, ".passkey") ? 0 : 1;
  return n;
}

static gboolean
has (const Fixture *fixture, guint i)
{
  g_autofree char *path = path_of (fixture, fixture->keys[i]);

  return g_file_test (path, G_FILE_TEST_EXISTS);
}

/* Returns how many keys are listed.  Each is whole; those that the executor knows sign. */
static guint
check_usable (Fixture *fixture)
{
  g_autoptr (Key) key = open_key (fixture);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) infos = key_list (key, &error);

  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (fixture->keys); i++)
    if (has (fixture, i))
      {
        test_key_sign (key, fixture->keys[i], &error);
        g_assert_no_error (error);
        g_assert_cmpuint (count_unfinished (fixture), ==, 0);
      }
  return infos->len;
}

static void
run_case (Fixture *fixture, const Step *step, const struct Kind *kind, guint32 at)
{
  const gboolean deadly = kind->action == FAULT_KILL || kind->action == FAULT_TORN_KILL;
  gboolean killed = FALSE, done = FALSE;

  begin_anew (fixture, step->nothing);
  memset (told, 0, sizeof *told);
  if (deadly)
    killed = attempt_to_death (fixture, step, kind, at, &done);
  else
    done = attempt (fixture, step, kind, at);
  g_assert_true (killed == (deadly && fault->fired == FAULT_STRUCK));
  g_assert_true (done || killed || told->named);
  /* what could not be stored is not said to be */
  if ((kind->action == FAULT_FAIL || kind->action == FAULT_TORN) && fault->fired == FAULT_STRUCK)
    g_assert_true (!done || (fault->fired_operation & CHANGES) == 0);
  if (g_file_test (fixture->folder, G_FILE_TEST_IS_DIR))
    check_private (fixture->folder);
  step->look (fixture, done, killed, kind->sticky);
}

static void
sweep (Fixture *fixture, gconstpointer data)
{
  const Step *step = data;
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    for (guint32 at = 1;; at++)
      {
        g_assert_cmpuint (at, <, CASES_MAX);
        run_case (fixture, step, &kinds[i], at);
        if (fault->fired != FAULT_STRUCK)
          {
            g_test_message ("%s: %u cases", kinds[i].name, at - 1);
            n += at - 1;
            break;
          }
      }
  g_assert_cmpuint (n, >=, 3 * 10); /* it was harmed */
}

/* --- the steps --- */

static gboolean
run_enrol (Fixture *fixture, Key *key, Told *out, GError **error)
{
  g_autoptr (Passkey) passkey = test_key_enrol (key, NULL, error);

  return passkey != NULL;
}

/* Who is told that none was made finds none, unless it could not be removed any more. */
static void
look_enrolled (Fixture *fixture, gboolean done, gboolean killed, gboolean sticky)
{
  const guint before = has (fixture, 0) ? 2 : 0;
  const guint n = check_usable (fixture);

  if (done)
    g_assert_cmpuint (n, ==, before + 1);
  else if (!killed && !sticky)
    g_assert_cmpuint (n, ==, before);
  else
    g_assert_true (n == before || n == before + 1);
}

static gboolean
run_sign (Fixture *fixture, Key *key, Told *out, GError **error)
{
  out->counter = test_key_sign (key, fixture->keys[0], error);
  return out->counter != 0;
}

/* The executor has seen 1, and what was given out; each later one is greater. */
static void
look_signed (Fixture *fixture, gboolean done, gboolean killed, gboolean sticky)
{
  g_assert_cmpuint (told->counter, ==, done ? 2 : 0);
  if (done)
    fixture->keys[0]->counter = told->counter;
  g_assert_cmpuint (check_usable (fixture), ==, 2);
  g_assert_cmpuint (fixture->keys[0]->counter, >, done ? 2 : 1);
  g_assert_cmpuint (fixture->keys[0]->counter, <=, 3);
}

static gboolean
run_forget (Fixture *fixture, Key *key, Told *out, GError **error)
{
  return key_forget (key, fixture->keys[0]->credential, error);
}

/* Gone is gone, with what is left of it elsewhere; the other one is there. */
static void
look_forgotten (Fixture *fixture, gboolean done, gboolean killed, gboolean sticky)
{
  if (done)
    g_assert_false (has (fixture, 0));
  if (!has (fixture, 0))
    g_assert_cmpuint (count_unfinished (fixture), ==, 0);
  g_assert_true (has (fixture, 1));
  g_assert_cmpuint (check_usable (fixture), ==, has (fixture, 0) ? 2 : 1);
}

static gboolean
run_list (Fixture *fixture, Key *key, Told *out, GError **error)
{
  g_autoptr (GPtrArray) infos = key_list (key, error);

  out->n_listed = infos != NULL ? infos->len : 0;
  return infos != NULL;
}

/* All of them, or none and an error: a key that is not listed could be taken for one that is gone. */
static void
look_listed (Fixture *fixture, gboolean done, gboolean killed, gboolean sticky)
{
  g_assert_cmpuint (told->n_listed, ==, done ? 2 : 0);
  g_assert_cmpuint (check_usable (fixture), ==, 2);
}

static const Step steps[] = {
  { "enrol-first", TRUE, run_enrol, look_enrolled },
  { "enrol", FALSE, run_enrol, look_enrolled },
  { "sign", FALSE, run_sign, look_signed },
  { "forget", FALSE, run_forget, look_forgotten },
  { "list", FALSE, run_list, look_listed },
};

/* --- what makes it durable, and in which order --- */

/* As "sync passkeys": the operation, and the end of the path. */
static char *
noted (void)
{
  static const struct
  {
    guint32 operation;
    const char *name;
  } names[] = {
    { FAULT_MKDIR, "mkdir" },   { FAULT_LOCK, "lock" }, { FAULT_CREATE, "create" },
    { FAULT_WRITE, "write" },   { FAULT_SYNC, "sync" }, { FAULT_RENAME, "rename" },
    { FAULT_UNLINK, "unlink" },
  };
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint32 i = 0; i < fault->seen; i++)
    for (guint k = 0; k < G_N_ELEMENTS (names); k++)
      if (fault->met[i].operation == names[k].operation)
        {
          const char *path = fault->met[i].path;
          g_autofree char *name = g_path_get_basename (path);
          const char *end = g_str_has_suffix (name, ".new")       ? ".new"
                            : g_str_has_suffix (name, ".passkey") ? ".passkey"
                            : g_str_has_prefix (name, "undersign-card") ? "top"
                                                                        : name;

          g_string_append_printf (text, "%s %s\n", names[k].name, end);
        }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
test_order (Fixture *fixture, gconstpointer data)
{
#define STORED                                                                                     \
  "lock passkeys\ncreate .new\nwrite .new\nsync .new\nrename .passkey\nsync passkeys\n"
  static const char *const expected[] = {
    ("mkdir undersign\nsync top\nmkdir passkeys\nsync undersign\n" STORED),
    STORED,
    STORED,
    "lock passkeys\nunlink .passkey\nsync passkeys\n",
    "",
  };
  const struct Kind kind = { "", FAULT_NOTE, ALL, 0, FALSE };
  g_autofree char *left = g_build_filename (fixture->folder, LEFT, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      g_autofree char *found = NULL;

      begin_anew (fixture, steps[i].nothing);
      if (!steps[i].nothing)
        g_assert_no_errno (g_unlink (left));
      g_assert_true (attempt (fixture, &steps[i], &kind, 0));
      found = noted ();
      g_assert_cmpstr (found, ==, expected[i]);
    }
}

/* --- what others do while the person types --- */

static void
sign_meanwhile (Fixture *fixture)
{
  g_autoptr (Key) key = open_key (fixture);

  g_assert_cmpuint (test_key_sign (key, fixture->keys[0], NULL), ==, 2);
}

static void
forget_meanwhile (Fixture *fixture)
{
  g_autoptr (Key) key = open_key (fixture);

  g_assert_true (key_forget (key, fixture->keys[0]->credential, NULL));
}

static void
open_meanwhile (Fixture *fixture)
{
  g_autofree char *path = path_of (fixture, fixture->keys[0]);

  g_assert_no_errno (chmod (path, 0640));
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
    { forget_meanwhile, 0, US_REASON_CREDENTIAL_UNKNOWN },
    { open_meanwhile, 0, US_REASON_KEY_STORE },
    { sign_meanwhile, 3, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (Key) key = NULL;
      g_autoptr (GError) error = NULL;

      begin_anew (fixture, FALSE);
      key = open_key (fixture);
      fixture->meanwhile = rows[i].meanwhile;
      g_assert_cmpuint (test_key_sign (key, fixture->keys[0], &error), ==, rows[i].counter);
      if (rows[i].reason != NULL)
        g_assert_true (us_error_has_reason (error, rows[i].reason));
      g_assert_true (has (fixture, 0) == (rows[i].meanwhile != forget_meanwhile));
    }
}

/* What is gone is not put back by one who would only change it. */
static void
test_replace_absent (Fixture *fixture, gconstpointer data)
{
  g_autoptr (Store) store = store_file_open (fixture->folder, NULL);
  g_autofree char *name = stored_key_name (fixture->keys[0]->credential);
  g_autoptr (GError) error = NULL, twice = NULL;

  g_assert_true (store->klass->remove (store, name, NULL));
  g_assert_false (store->klass->save (store, name, "Laptop", fixture->files[0], TRUE, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_KEY_STORE));
  g_assert_false (has (fixture, 0));
  g_assert_true (store->klass->save (store, name, "Laptop", fixture->files[0], FALSE, NULL));
  g_assert_false (store->klass->save (store, name, "Laptop", fixture->files[0], FALSE, &twice));
  g_assert_true (us_error_has_reason (twice, US_REASON_KEY_STORE));
}

/* --- the block of tests/fault --- */

/* Begins this program once more, behind the library. */
static void
begin_behind_library (char **argv)
{
  const char *library = g_getenv ("UNDERSIGN_FAULT_LIBRARY");
  const char *options = g_getenv ("ASAN_OPTIONS");
  g_autofree char *late = g_strdup_printf ("%s:verify_asan_link_order=0",
                                           options != NULL ? options : "");
  g_autofree char *path = NULL;
  autofd fd = g_file_open_tmp ("undersign-fault-XXXXXX", &path, NULL);

  g_assert_nonnull (library);
  g_assert_cmpint (fd, >=, 0);
  g_assert_no_errno (ftruncate (fd, sizeof *fault));
  g_setenv ("LD_PRELOAD", library, TRUE);
  g_setenv (FAULT_VARIABLE, path, TRUE);
  test_folder_in_memory ();
  g_setenv ("ASAN_OPTIONS", late, TRUE);
  fd_clear (&fd);
  execv ("/proc/self/exe", argv);
  g_assert_not_reached ();
}

static void
map_block (void)
{
  const char *path = g_getenv (FAULT_VARIABLE);
  autofd fd = open (path, O_RDWR | O_CLOEXEC);

  fault = mmap (NULL, sizeof *fault, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  g_assert_true (fault != MAP_FAILED);
  told = mmap (NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  g_assert_true (told != MAP_FAILED);
  g_assert_no_errno (unlink (path));
}

int
main (int argc, char **argv)
{
  int result = 1;

  if (g_getenv (FAULT_VARIABLE) == NULL)
    begin_behind_library (argv);
  map_block ();
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      g_autofree char *path = g_strconcat ("/key-faults/", steps[i].name, NULL);

      g_test_add (path, Fixture, &steps[i], set_up, sweep, tear_down);
    }
  g_test_add ("/key-faults/order", Fixture, NULL, set_up, test_order, tear_down);
  g_test_add ("/key-faults/meanwhile", Fixture, NULL, set_up, test_meanwhile, tear_down);
  g_test_add ("/key-faults/replace-absent", Fixture, NULL, set_up, test_replace_absent, tear_down);
  result = g_test_run ();
  test_once_clear ();
  return result;
}
