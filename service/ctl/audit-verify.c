/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersignctl audit verify.  The chain is computed here anew from the bytes of the entries:
 * nothing that the service says about it is believed.  Files are verified without any service.
 */
#include "service/ctl/audit.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/chain.h"
#include "service/base/file.h"
#include "service/base/given-keys.h"
#include "service/ctl/log.h"
#include "service/ctl/output.h"

#include <stdio.h>
#include <string.h>

static char *known_head = NULL;
static char **against = NULL;
static char **key_words = NULL;
static char **files = NULL;

const GOptionEntry verify_options[] = {
  { "file", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &files,
    "An export to verify, without the service; several, oldest first, must join", "FILE" },
  { "against", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &against,
    "A checkpoint that the log must go through", "FILE" },
  { "key", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &key_words,
    "The host key by which every checkpoint must be signed: its file or its id", "KEY" },
  { "head", 0, 0, G_OPTION_ARG_STRING, &known_head,
    "A hash that an earlier run printed, which must still be in the chain", "sha256:HEX" },
  G_OPTION_ENTRY_NULL,
};

/* A point that the log must go through. */
typedef struct
{
  guint64 seq;
  guint8 head[PAE_DIGEST_SIZE];
  char *ledger, *key, *time; /* NULL: where another file begins or ends */
  const char *path;          /* (nullable): where the checkpoint was read by itself */
  gboolean met;
} Witness;

static void
witness_clear (gpointer data)
{
  Witness *witness = data;

  g_free (witness->ledger);
  g_free (witness->key);
  g_free (witness->time);
}

typedef struct
{
  Chain chain;
  guint64 entries;
  GArray *witnesses; /* (element-type Witness) */
  GPtrArray *keys;   /* ids that were given */
  guint8 known[PAE_DIGEST_SIZE];
  gboolean seen;          /* the known head was in the chain */
  guint64 first;          /* number of the first entry of all */
  gboolean only_the_first; /* stop after one entry */
} Verify;

/* The checkpoint that is at fault is one of several; one that ends an export is in that file. */
static gboolean G_GNUC_PRINTF (4, 5)
witness_fault (const Witness *witness, GError **error, const char *reason, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  us_error_set (error, US_ERROR_REFUSED, reason, "%s", text);
  if (witness->path != NULL)
    us_error_about (error, witness->path);
  return FALSE;
}

static gboolean
witness_meet (Verify *verify, guint64 seq, const guint8 *head, GError **error)
{
  for (guint i = 0; i < verify->witnesses->len; i++)
    {
      Witness *witness = &g_array_index (verify->witnesses, Witness, i);

      if (witness->seq != seq)
        continue;
      if (!digest_equal (witness->head, head))
        return witness_fault (witness, error,
                              witness->key != NULL ? US_REASON_CHECKPOINT : US_REASON_CHAIN,
                              "entry %" G_GUINT64_FORMAT " is not the one of the %s", seq,
                              witness->key != NULL ? "checkpoint" : "file beside it");
      witness->met = TRUE;
    }
  return TRUE;
}

static gboolean
verify_entry (const LogEntry *entry, gpointer data, GError **error)
{
  Verify *verify = data;
  gboolean first = !verify->chain.begun;

  if (!chain_add (&verify->chain, entry->bytes, NULL, error))
    return FALSE;
  if (entry->hash != NULL && !digest_equal (verify->chain.head, entry->hash))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN,
                         "entry %" G_GUINT64_FORMAT " is not what its hash was made of",
                         verify->chain.seq);
  if (verify->only_the_first)
    return FALSE;
  verify->entries++;
  verify->seen = verify->seen || digest_equal (verify->chain.head, verify->known);
  if (first && !witness_meet (verify, verify->chain.start, verify->chain.start_head, error))
    return FALSE;
  return witness_meet (verify, verify->chain.seq, verify->chain.head, error);
}

static gboolean
witness_add (Verify *verify, const Checkpoint *checkpoint, const char *path, GError **error)
{
  Witness witness = { .seq = checkpoint->seq, .path = path };

  if (verify->keys->len > 0 && !given_keys_have (verify->keys, checkpoint->key))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_OTHER_KEY,
                         "the checkpoint of entry %" G_GUINT64_FORMAT
                         " is signed by %s, which is not the key that was given",
                         checkpoint->seq, checkpoint->key);
  memcpy (witness.head, checkpoint->head, PAE_DIGEST_SIZE);
  witness.ledger = g_strdup (checkpoint->ledger);
  witness.key = g_strdup (checkpoint->key);
  witness.time = g_strdup (checkpoint->time);
  g_array_append_val (verify->witnesses, witness);
  return TRUE;
}

/* One that ends an export tells of the entry before it. */
static gboolean
verify_checkpoint (const Checkpoint *checkpoint, gpointer data, GError **error)
{
  Verify *verify = data;

  if (verify->only_the_first)
    return FALSE;
  if (checkpoint->seq != verify->chain.seq)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHECKPOINT,
                         "the checkpoint of entry %" G_GUINT64_FORMAT
                         " stands after entry %" G_GUINT64_FORMAT,
                         checkpoint->seq, verify->chain.seq);
  return witness_add (verify, checkpoint, NULL, error) &&
         witness_meet (verify, verify->chain.seq, verify->chain.head, error);
}

static const LogFuncs verify_funcs = { verify_entry, verify_checkpoint };

static gboolean
against_read (Verify *verify, const char *path, GError **error)
{
  g_auto (Checkpoint) checkpoint = { 0 };
  g_autoptr (GBytes) bytes = file_read_given (path, CHECKPOINT_MAX, error);

  if (bytes == NULL)
    return FALSE;
  if (checkpoint_parse (bytes, &checkpoint, error) && witness_add (verify, &checkpoint, path, error))
    return TRUE;
  us_error_about (error, path);
  return FALSE;
}

/* A point that a file and the one before it must have in common. */
static void
link_add (Verify *verify, guint64 seq, const guint8 head[PAE_DIGEST_SIZE])
{
  Witness witness = { .seq = seq };

  memcpy (witness.head, head, PAE_DIGEST_SIZE);
  g_array_append_val (verify->witnesses, witness);
}

/* link_read: where a file begins, the one before it must pass. */
static gboolean
link_read (Verify *verify, const char *path, GError **error)
{
  Verify first = { .only_the_first = TRUE };

  if (!log_walk_file (path, &verify_funcs, &first, error))
    return FALSE;
  if (!first.chain.begun)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN, "%s begins with no entry", path);
  link_add (verify, first.chain.start, first.chain.start_head);
  return TRUE;
}

/* chain_finish: after a source has ended; @linked: it goes on where another ended. */
static gboolean
chain_finish (Verify *verify, gboolean linked, GError **error)
{
  if (!linked && !chain_end (&verify->chain, error))
    return FALSE;
  for (guint i = 0; i < verify->witnesses->len; i++)
    {
      const Witness *witness = &g_array_index (verify->witnesses, Witness, i);

      if (witness->met && witness->ledger != NULL &&
          strcmp (witness->ledger, verify->chain.ledger) != 0)
        return witness_fault (witness, error, US_REASON_CHECKPOINT,
                              "the checkpoint is of another ledger");
    }
  return TRUE;
}

/*
 * One file of several.  It begins in the one before it, and goes through the entry with which that one
 * ends: so both tell the same wherever they overlap.
 */
static gboolean
file_verify (Verify *verify, guint i, GError **error)
{
  guint links = verify->witnesses->len;
  guint64 before = verify->chain.seq;
  Chain chain = { 0 };

  if (i > 0)
    link_add (verify, verify->chain.seq, verify->chain.head);
  if (files[i + 1] != NULL && !link_read (verify, files[i + 1], error))
    return FALSE;
  g_strlcpy (chain.ledger, verify->chain.ledger, sizeof chain.ledger); /* of them all */
  verify->chain = chain;
  if (!log_walk_file (files[i], &verify_funcs, verify, error))
    return FALSE;
  if (!chain_finish (verify, i > 0, error))
    {
      us_error_about (error, files[i]);
      return FALSE;
    }
  if (i == 0)
    verify->first = verify->chain.start + 1;
  else if (!g_array_index (verify->witnesses, Witness, links++).met)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN,
                         "%s ends before entry %" G_GUINT64_FORMAT ", with which %s ends", files[i],
                         before, files[i - 1]);
  if (files[i + 1] != NULL && !g_array_index (verify->witnesses, Witness, links).met)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHAIN,
                         "%s does not reach to where %s begins, after entry %" G_GUINT64_FORMAT,
                         files[i], files[i + 1],
                         g_array_index (verify->witnesses, Witness, links).seq);
  return TRUE;
}

static gboolean
files_verify (Verify *verify, GError **error)
{
  for (guint i = 0; files[i] != NULL; i++)
    if (!file_verify (verify, i, error))
      return FALSE;
  return TRUE;
}

static gboolean
witnesses_check (const Verify *verify, GError **error)
{
  for (guint i = 0; i < verify->witnesses->len; i++)
    {
      const Witness *witness = &g_array_index (verify->witnesses, Witness, i);

      if (witness->met)
        continue;
      if (witness->seq < verify->first)
        return witness_fault (witness, error, US_REASON_PRUNED,
                              "entry %" G_GUINT64_FORMAT ", which the checkpoint names, was pruned: "
                              "give the export that holds it",
                              witness->seq);
      return witness_fault (witness, error, US_REASON_CHECKPOINT,
                            "the log ends before entry %" G_GUINT64_FORMAT
                            ", which the checkpoint names: it was cut or replaced",
                            witness->seq);
    }
  if (known_head != NULL && !verify->seen)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_CHECKPOINT,
                         "%s is no longer in the chain: the log was cut or replaced", known_head);
  return TRUE;
}

static void
print_json (const Verify *verify, const char *head, const char *count)
{
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  JsonTree *list = NULL;

  json_tree_add_boolean (tree, "valid", TRUE);
  json_tree_add_string (tree, "entries", count);
  json_tree_add_string (tree, "head", head);
  for (guint i = 0; i < verify->witnesses->len; i++)
    {
      const Witness *witness = &g_array_index (verify->witnesses, Witness, i);
      JsonTree *shown = NULL;
      g_autofree char *seq = g_strdup_printf ("%" G_GUINT64_FORMAT, witness->seq);

      if (witness->key == NULL)
        continue;
      if (list == NULL)
        list = json_tree_add (tree, "checkpoints", json_tree_new_array ());
      shown = json_tree_append (list, json_tree_new_object ());
      json_tree_add_string (shown, "seq", seq);
      json_tree_add_string (shown, "time", witness->time);
      json_tree_add_string (shown, "key", witness->key);
      json_tree_add_boolean (shown, "key-given", verify->keys->len > 0);
    }
  if (verify->first > 1)
    {
      g_autofree char *first = g_strdup_printf ("%" G_GUINT64_FORMAT, verify->first);

      json_tree_add_string (tree, "first", first);
    }
  output_json (tree);
}

static void
print_text (const Verify *verify, const char *head, const char *count)
{
  gboolean any = known_head != NULL;

  printf ("the audit log is whole: %s entries, head %s\n", count, head);
  if (verify->first > 1)
    printf ("  it begins with entry %" G_GUINT64_FORMAT ": what came before was pruned\n",
            verify->first);
  for (guint i = 0; i < verify->witnesses->len; i++)
    {
      const Witness *witness = &g_array_index (verify->witnesses, Witness, i);

      if (witness->key == NULL)
        continue;
      any = TRUE;
      printf ("  it goes through the checkpoint of %s, entry %" G_GUINT64_FORMAT
              ", signed by key %s%s\n",
              witness->time, witness->seq, witness->key,
              verify->keys->len > 0 ? "" : " (not compared with a --key)");
    }
  if (!any)
    puts ("  it was not held against a checkpoint: one that was replaced whole looks like this, too");
}

static gboolean
verify_source (Ctl *ctl, Verify *verify, GError **error)
{
  if (files != NULL)
    return files_verify (verify, error);
  if (!log_walk (ctl, 1, &verify_funcs, verify, error) || !chain_finish (verify, FALSE, error))
    return FALSE;
  verify->first = verify->chain.start + 1;
  return TRUE;
}

gboolean
run_verify (Ctl *ctl, char **arguments, GError **error)
{
  g_autoptr (GArray) witnesses = g_array_new (FALSE, FALSE, sizeof (Witness));
  g_autoptr (GPtrArray) keys = NULL;
  g_autofree char *head = NULL;
  g_autofree char *count = NULL;
  Verify verify = { .witnesses = witnesses };

  g_array_set_clear_func (witnesses, witness_clear);
  if (known_head != NULL && !digest_from_string (known_head, verify.known))
    return ctl_bad_word (
        ctl, error, "--head must be sha256: and 64 lower-case hex digits, not \"%s\"", known_head);
  keys = given_keys_load (key_words, error);
  if (keys == NULL)
    return FALSE;
  verify.keys = keys;
  for (guint i = 0; against != NULL && against[i] != NULL; i++)
    if (!against_read (&verify, against[i], error))
      return FALSE;
  if (!verify_source (ctl, &verify, error) || !witnesses_check (&verify, error))
    return FALSE;

  head = digest_to_string (verify.chain.head);
  count = g_strdup_printf ("%" G_GUINT64_FORMAT, verify.entries);
  if (ctl->json)
    print_json (&verify, head, count);
  else
    print_text (&verify, head, count);
  return TRUE;
}
