/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* undersignctl status: whether anything could run, and how much there is. */
#include "service/ctl/bus.h"
#include "service/ctl/ctl.h"
#include "service/ctl/output.h"

#include <stdio.h>

/* What the status holds, in the order in which it is shown. */
static const char *const counts[] = {
  "actions", "agents", "rules", "passkeys", "requests", "audit"
};

static char *
count_text (GVariant *status, const char *name)
{
  g_autoptr (GVariant) value = g_variant_lookup_value (status, name, NULL);

  if (value == NULL)
    return NULL;
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_UINT32))
    return g_strdup_printf ("%u", g_variant_get_uint32 (value));
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_UINT64))
    return g_strdup_printf ("%" G_GUINT64_FORMAT, g_variant_get_uint64 (value));
  return NULL;
}

static void
print_json (GVariant *status, gboolean running, const char *halted, const char *policy)
{
  g_autoptr (JsonTree) tree = json_tree_new_object ();
  const char *head = "";

  json_tree_add_boolean (tree, "running", running);
  json_tree_add_string (tree, "halted", halted);
  json_tree_add_string (tree, "policy", policy);
  for (gsize i = 0; i < G_N_ELEMENTS (counts); i++)
    {
      g_autofree char *text = count_text (status, counts[i]);

      if (text != NULL)
        json_tree_add_string (tree, counts[i], text);
    }
  if (g_variant_lookup (status, "head", "&s", &head))
    json_tree_add_string (tree, "head", head);
  output_json (tree);
}

/* The first line: what a person who sees no more must know. */
static const char *
summary_of (gboolean running, const char *policy)
{
  if (running)
    return policy[0] == '\0' ? "execution is running"
                             : "nothing can be executed: policy is invalid";
  return policy[0] == '\0' ? "nothing can be executed: execution is halted"
                           : "nothing can be executed: execution is halted and policy is invalid";
}

static void
print_text (GVariant *status, gboolean running, const char *halted, const char *policy)
{
  const char *head = "";

  puts (summary_of (running, policy));
  if (halted[0] != '\0')
    output_field ("halted", halted);
  if (policy[0] == '\0')
    output_field ("policy", "valid");
  else
    {
      g_auto (GStrv) faults = g_strsplit (policy, "\n", -1);

      for (gsize i = 0; faults[i] != NULL; i++)
        output_field ("policy fault", faults[i]);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (counts); i++)
    {
      g_autofree char *text = count_text (status, counts[i]);

      if (text != NULL)
        output_field (counts[i], text);
    }
  if (g_variant_lookup (status, "head", "&s", &head))
    output_field ("audit head", head);
}

static gboolean
run_status (Ctl *ctl, char **arguments, GError **error)
{
  g_autoptr (GVariant) reply = bus_call (ctl, "Status", NULL, -1, "(a{sv})", error);
  g_autoptr (GVariant) status = NULL;
  const char *halted = "", *policy = "";
  gboolean running = FALSE;

  if (reply == NULL)
    return FALSE;
  status = g_variant_get_child_value (reply, 0);
  g_variant_lookup (status, "running", "b", &running);
  g_variant_lookup (status, "halted", "&s", &halted);
  g_variant_lookup (status, "policy", "&s", &policy);
  if (ctl->json)
    print_json (status, running, halted, policy);
  else
    print_text (status, running, halted, policy);
  return TRUE;
}

const CtlVerb status_verbs[] = {
  { "status", "", "Say whether anything could run, and how much there is", 0, 0, NULL, run_status },
  { NULL, NULL, NULL, 0, 0, NULL, NULL },
};
