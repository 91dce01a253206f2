/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checkpoints, written by the executor and read by everyone who holds a log against one. */
#include "service/base/checkpoint.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/encode.h"
#include "service/base/shape.h"

#include <string.h>

static const JsonLimits limits = { CHECKPOINT_MAX, 2, CHECKPOINT_MAX, 16 };
static const char *const members[] = { "format", "head", "host", "key", "ledger",
                                       "seq",    "time", NULL };

void
checkpoint_clear (Checkpoint *checkpoint)
{
  g_clear_pointer (&checkpoint->host, g_free);
  g_clear_pointer (&checkpoint->key, g_free);
  g_clear_pointer (&checkpoint->ledger, g_free);
  g_clear_pointer (&checkpoint->time, g_free);
}

GBytes *
checkpoint_encode (const Checkpoint *checkpoint)
{
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  g_autofree char *head = digest_to_string (checkpoint->head);
  g_autofree char *seq = g_strdup_printf ("%" G_GUINT64_FORMAT, checkpoint->seq);

  json_tree_add_string (tree, "format", CHECKPOINT_FORMAT);
  json_tree_add_string (tree, "head", head);
  json_tree_add_string (tree, "host", checkpoint->host);
  json_tree_add_string (tree, "key", checkpoint->key);
  json_tree_add_string (tree, "ledger", checkpoint->ledger);
  json_tree_add_string (tree, "seq", seq);
  json_tree_add_string (tree, "time", checkpoint->time);
  return json_tree_write (tree);
}

static gboolean
checkpoint_decode (GBytes *body, Checkpoint *out_checkpoint, GError **error)
{
  g_autoptr (JsonTree) tree =
      shape_parse (body, &limits, US_REASON_BAD_SIGNED, "a checkpoint", error);
  g_auto (Checkpoint) checkpoint = { 0 };
  gint64 time = 0;

  if (tree == NULL ||
      !shape_check_strings (tree, members, US_REASON_BAD_SIGNED, "a checkpoint", error))
    return FALSE;
  checkpoint.host = g_strdup (json_tree_get_string (tree, "host"));
  checkpoint.key = g_strdup (json_tree_get_string (tree, "key"));
  checkpoint.ledger = g_strdup (json_tree_get_string (tree, "ledger"));
  checkpoint.time = g_strdup (json_tree_get_string (tree, "time"));
  if (strcmp (json_tree_get_string (tree, "format"), CHECKPOINT_FORMAT) != 0 ||
      !id_is_valid (checkpoint.host) || !id_is_valid (checkpoint.ledger) ||
      !clock_parse (checkpoint.time, &time) ||
      !shape_number (json_tree_get_string (tree, "seq"), &checkpoint.seq) ||
      checkpoint.seq == 0 ||
      !digest_from_string (json_tree_get_string (tree, "head"), checkpoint.head))
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_SIGNED,
                         "a member of the checkpoint is malformed");
  *out_checkpoint = checkpoint;
  memset (&checkpoint, 0, sizeof checkpoint);
  return TRUE;
}

gboolean
checkpoint_read (const JsonTree *tree, Checkpoint *out_checkpoint, GError **error)
{
  g_auto (Signed) sealed = { 0 };
  g_auto (Checkpoint) checkpoint = { 0 };
  g_autofree char *key = NULL;

  if (!signed_read (tree, PAE_TYPE_CHECKPOINT, &sealed, error) ||
      !checkpoint_decode (sealed.body, &checkpoint, error))
    return FALSE;
  key = signer_id_text (&sealed.signer);
  if (strcmp (key, checkpoint.key) != 0)
    return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_SIGNED,
                         "the checkpoint names another key than the one beside it");
  *out_checkpoint = checkpoint;
  memset (&checkpoint, 0, sizeof checkpoint);
  return TRUE;
}

gboolean
checkpoint_parse (GBytes *bytes, Checkpoint *out_checkpoint, GError **error)
{
  gsize len = 0;
  const char *text = g_bytes_get_data (bytes, &len);
  g_autoptr (GBytes) line = NULL;
  g_autoptr (JsonTree) tree = NULL;

  if (len > 0 && text[len - 1] == '\n')
    len--;
  line = g_bytes_new_from_bytes (bytes, 0, len);
  tree = shape_parse (line, &limits, US_REASON_BAD_SIGNED, "a checkpoint", error);
  return tree != NULL && checkpoint_read (tree, out_checkpoint, error);
}
