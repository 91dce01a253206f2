/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersignctl audit show, verify.  The chain is computed here anew from the bytes of the entries:
 * nothing that the service says about it is believed.
 */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/pae.h"
#include "service/ctl/bus.h"
#include "service/ctl/ctl.h"
#include "service/ctl/output.h"
#include "service/record/rows.h"

#include <stdio.h>
#include <string.h>

#define PAGE 100
#define ENTRY_MAX (2 * 1024 * 1024)

static const JsonLimits limits = {
  .bytes = ENTRY_MAX, .depth = 8, .string = ENTRY_MAX, .items = 4096
};

static gint64 show_from = 1;
static gint64 show_count = 0;
static char *known_head = NULL;

static const GOptionEntry show_options[] = {
  { "from", 0, 0, G_OPTION_ARG_INT64, &show_from, "The first entry to show", "NUMBER" },
  { "count", 0, 0, G_OPTION_ARG_INT64, &show_count, "How many at most", "NUMBER" },
  G_OPTION_ENTRY_NULL,
};

static const GOptionEntry verify_options[] = {
  { "head", 0, 0, G_OPTION_ARG_STRING, &known_head,
    "A hash that an earlier run printed, which must still be in the chain", "sha256:HEX" },
  G_OPTION_ENTRY_NULL,
};

typedef struct
{
  guint64 seq;
  GBytes *bytes;
  const guint8 *hash; /* what the service says it is, PAE_DIGEST_SIZE bytes */
} Entry;

/* FALSE stops; with @error unset it was enough. */
typedef gboolean (*EntryFunc) (const Entry *entry, gpointer data, GError **error);

static gboolean
page_walk (GVariant *entries, guint64 *next, EntryFunc func, gpointer data, GError **error)
{
  for (gsize i = 0; i < g_variant_n_children (entries); i++)
    {
      g_autoptr (GVariant) entry = NULL;
      g_autoptr (GVariant) hash = NULL;
      g_autoptr (GBytes) bytes = NULL;
      Entry shown = { 0 };

      g_variant_get_child (entries, i, "(t@ay@ay)", &shown.seq, &entry, &hash);
      if (shown.seq != *next || g_variant_get_size (hash) != PAE_DIGEST_SIZE)
        return us_error_set (error, US_ERROR_REFUSED, US_REASON_LEDGER,
                             "entry %" G_GUINT64_FORMAT " is missing", *next);
      bytes = g_variant_get_data_as_bytes (entry);
      shown.bytes = bytes;
      shown.hash = g_variant_get_data (hash);
      if (!func (&shown, data, error))
        return FALSE;
      (*next)++;
    }
  return TRUE;
}

/* Reads pages until one is empty. */
static gboolean
audit_walk (Ctl *ctl, guint64 from, EntryFunc func, gpointer data, GError **error)
{
  guint64 next = from;

  for (;;)
    {
      g_autoptr (GVariant) reply =
          bus_call (ctl, "ReadAudit", g_variant_new ("(tu)", next, PAGE), -1, "(a(tayay))", error);
      g_autoptr (GVariant) entries = NULL;
      g_autoptr (GError) stopped = NULL;

      if (reply == NULL)
        return FALSE;
      entries = g_variant_get_child_value (reply, 0);
      if (g_variant_n_children (entries) == 0)
        return TRUE;
      if (!page_walk (entries, &next, func, data, &stopped))
        {
          if (stopped == NULL)
            return TRUE;
          g_propagate_error (error, g_steal_pointer (&stopped));
          return FALSE;
        }
    }
}

static JsonTree *
entry_parse (const Entry *entry, GError **error)
{
  gsize len = 0;
  const char *text = g_bytes_get_data (entry->bytes, &len);

  return json_tree_parse (text, len, &limits, error);
}

/* One member of an entry, however deep: "details/request: …". */
static void
print_member (const char *prefix, const char *name, const JsonTree *value)
{
  g_autofree char *path =
      prefix[0] != '\0' ? g_strdup_printf ("%s/%s", prefix, name) : g_strdup (name);
  gboolean flag = FALSE;

  switch (json_tree_kind (value))
    {
    case JSON_TREE_OBJECT:
      for (guint i = 0; i < json_tree_length (value); i++)
        print_member (path, json_tree_name (value, i), json_tree_member_at (value, i));
      break;
    case JSON_TREE_ARRAY:
      for (guint i = 0; i < json_tree_length (value); i++)
        {
          g_autofree char *number = g_strdup_printf ("%u", i);

          print_member (path, number, json_tree_item (value, i));
        }
      break;
    case JSON_TREE_STRING:
      output_field (path, json_tree_string (value));
      break;
    case JSON_TREE_BOOLEAN:
      json_tree_boolean (value, &flag);
      output_field (path, flag ? "true" : "false");
      break;
    case JSON_TREE_NUMBER:
      output_field (path, json_tree_number (value));
      break;
    case JSON_TREE_NULL:
    default:
      output_field (path, "null");
      break;
    }
}

static void
print_entry (const Entry *entry, const JsonTree *tree)
{
  static const char *const heading[] = { "format", "seq", "time", "source", "event", "previous" };
  const char *time = json_tree_get_string (tree, "time");
  const char *source = json_tree_get_string (tree, "source");
  const char *event = json_tree_get_string (tree, "event");
  g_autofree char *shown_time = escape_line (time != NULL ? time : "?");
  g_autofree char *shown_source = escape_line (source != NULL ? source : "?");
  g_autofree char *shown_event = escape_line (event != NULL ? event : "?");
  const JsonTree *details = json_tree_member (tree, "details");

  printf ("%" G_GUINT64_FORMAT "  %s  %s  %s\n", entry->seq, shown_time, shown_source, shown_event);
  for (guint i = 0; i < json_tree_length (details); i++)
    print_member ("", json_tree_name (details, i), json_tree_member_at (details, i));
  for (guint i = 0; i < json_tree_length (tree); i++)
    {
      const char *name = json_tree_name (tree, i);
      gboolean known = strcmp (name, "details") == 0;

      for (gsize j = 0; j < G_N_ELEMENTS (heading); j++)
        known = known || strcmp (name, heading[j]) == 0;
      if (!known)
        print_member ("", name, json_tree_member_at (tree, i));
    }
}

typedef struct
{
  Ctl *ctl;
  guint64 left; /* 0: all */
} Show;

static gboolean
show_entry (const Entry *entry, gpointer data, GError **error)
{
  Show *show = data;
  g_autoptr (JsonTree) tree = entry_parse (entry, error);

  if (tree == NULL)
    return FALSE;
  if (show->ctl->json)
    output_json (tree);
  else
    print_entry (entry, tree);
  return show->left == 0 || --show->left > 0;
}

static gboolean
run_show (Ctl *ctl, char **arguments, GError **error)
{
  Show show = { .ctl = ctl, .left = (guint64) show_count };

  if (show_from < 1 || show_count < 0)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "the first entry is 1, and a count is not negative");
  return audit_walk (ctl, (guint64) show_from, show_entry, &show, error);
}

typedef struct
{
  guint64 seq;
  guint8 head[PAE_DIGEST_SIZE]; /* zeros before the first */
  guint8 known[PAE_DIGEST_SIZE];
  gboolean seen; /* the known head was in the chain */
} Chain;

static gboolean
verify_entry (const Entry *entry, gpointer data, GError **error)
{
  Chain *chain = data;
  g_autoptr (JsonTree) tree = entry_parse (entry, error);
  g_autofree char *seq = g_strdup_printf ("%" G_GUINT64_FORMAT, entry->seq);
  g_autofree char *previous = digest_to_string (chain->head);
  guint8 hash[PAE_DIGEST_SIZE];

  if (tree == NULL)
    return FALSE;
  pae_sha256 (PAE_TYPE_AUDIT, entry->bytes, hash);
  if (g_strcmp0 (json_tree_get_string (tree, "seq"), seq) != 0)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_LEDGER, "entry %s has another number",
                         seq);
  if (g_strcmp0 (json_tree_get_string (tree, "previous"), previous) != 0)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_LEDGER,
                         "entry %s does not follow the one before it", seq);
  if (!digest_equal (hash, entry->hash))
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_LEDGER,
                         "entry %s is not what its hash was made of", seq);
  memcpy (chain->head, hash, sizeof hash);
  chain->seq = entry->seq;
  chain->seen = chain->seen || digest_equal (hash, chain->known);
  return TRUE;
}

static gboolean
run_verify (Ctl *ctl, char **arguments, GError **error)
{
  Chain chain = { 0 };
  g_autofree char *head = NULL;
  g_autofree char *count = NULL;

  if (known_head != NULL && !digest_from_string (known_head, chain.known))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_VALUE,
                         "--head must be sha256: and 64 lower-case hex digits");
  if (!audit_walk (ctl, 1, verify_entry, &chain, error))
    return FALSE;
  if (known_head != NULL && !chain.seen)
    return us_error_set (error, US_ERROR_REFUSED, US_REASON_LEDGER,
                         "%s is no longer in the chain: the log was cut or replaced", known_head);
  head = digest_to_string (chain.head);
  count = g_strdup_printf ("%" G_GUINT64_FORMAT, chain.seq);
  if (ctl->json)
    {
      g_autoptr (JsonTree) tree = json_tree_new_object ();

      json_tree_add_boolean (tree, "valid", TRUE);
      json_tree_add_string (tree, "entries", count);
      json_tree_add_string (tree, "head", head);
      output_json (tree);
    }
  else
    printf ("the audit log is whole: %s entries, head %s\n", count, head);
  return TRUE;
}

const CtlVerb audit_verbs[] = {
  { "audit show", "", "Show the audit log", 0, 0, show_options, run_show },
  { "audit verify", "", "Compute the audit log's chain anew", 0, 0, verify_options, run_verify },
  { NULL, NULL, NULL, 0, 0, NULL, NULL },
};
