/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interface descriptions and the bus policy say the same: every member may be sent, by name and
 * to its destination only; nothing else may; and every member and argument is described in words.
 */
#include "dbus/names.h"
#include "dbus/org.undersign1.Admin.h"
#include "dbus/org.undersign1.h"

#include <gio/gio.h>
#include <string.h>

/* What a policy file allows and denies, each as "CONTEXT WHAT". */
typedef struct
{
  const char *bus_name;
  const char *owner;
  char *context;
  GPtrArray *rules;
} Policy;

static const char *
attribute (const char **names, const char **values, const char *name)
{
  for (guint i = 0; names[i] != NULL; i++)
    if (strcmp (names[i], name) == 0)
      return values[i];
  return NULL;
}

static void
policy_start (GMarkupParseContext *context,
              const char *element,
              const char **names,
              const char **values,
              gpointer data,
              GError **error)
{
  Policy *policy = data;
  const char *destination = attribute (names, values, "send_destination");
  const char *own = attribute (names, values, "own");
  g_autofree char *rule = NULL;

  if (strcmp (element, "busconfig") == 0)
    return;
  if (strcmp (element, "policy") == 0)
    {
      g_assert_cmpuint (g_strv_length ((char **) names), ==, 1);
      g_free (policy->context);
      policy->context = g_strdup_printf ("%s=%s", names[0], values[0]);
      return;
    }

  /* Only two forms are known here, so that a looser one cannot come in unseen. */
  if (own != NULL)
    {
      g_assert_cmpuint (g_strv_length ((char **) names), ==, 1);
      g_assert_cmpstr (own, ==, policy->bus_name);
      rule = g_strdup_printf ("%s %s own", policy->context, element);
    }
  else if (g_strv_length ((char **) names) == 1)
    {
      g_assert_cmpstr (destination, ==, policy->bus_name);
      rule = g_strdup_printf ("%s %s send *", policy->context, element);
    }
  else
    {
      g_assert_cmpuint (g_strv_length ((char **) names), ==, 3);
      g_assert_cmpstr (destination, ==, policy->bus_name);
      rule = g_strdup_printf ("%s %s send %s.%s", policy->context, element,
                              attribute (names, values, "send_interface"),
                              attribute (names, values, "send_member"));
    }
  g_ptr_array_add (policy->rules, g_steal_pointer (&rule));
}

static char *
file_load (const char *name, const char *suffix)
{
  g_autofree char *path = NULL;
  char *text = NULL;
  g_autoptr (GError) error = NULL;

  path = g_strdup_printf ("%s/%s%s", g_getenv ("UNDERSIGN_DBUS_DIR"), name, suffix);
  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  return text;
}

static void
markup_parse (const GMarkupParser *parser, const char *text, gpointer data)
{
  g_autoptr (GMarkupParseContext) context = NULL;
  g_autoptr (GError) error = NULL;

  context = g_markup_parse_context_new (parser, 0, data, NULL);
  g_markup_parse_context_parse (context, text, -1, &error);
  g_assert_no_error (error);
}

static int
compare_strings (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static void
check_policy (const char *bus_name,
              const char *owner,
              const GDBusInterfaceInfo *const *infos,
              const char *extra)
{
  static const GMarkupParser parser = { .start_element = policy_start };
  g_autofree char *text = file_load (bus_name, ".conf");
  g_autoptr (GPtrArray) wanted = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (g_free);
  Policy policy = { .bus_name = bus_name, .owner = owner, .rules = found };

  markup_parse (&parser, text, &policy);
  g_free (policy.context);

  g_ptr_array_add (wanted, g_strdup_printf ("user=%s allow own", owner));
  g_ptr_array_add (wanted, g_strdup ("context=default deny own"));
  g_ptr_array_add (wanted, g_strdup ("context=default deny send *"));
  if (extra != NULL)
    g_ptr_array_add (wanted, g_strdup_printf ("context=default allow send %s", extra));
  for (guint i = 0; infos[i] != NULL; i++)
    for (guint j = 0; infos[i]->methods[j] != NULL; j++)
      g_ptr_array_add (wanted, g_strdup_printf ("context=default allow send %s.%s", infos[i]->name,
                                                infos[i]->methods[j]->name));

  /* The last match wins on the bus: the denials must come before what is allowed. */
  g_assert_cmpuint (found->len, >, 3);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpstr (found->pdata[i], ==, wanted->pdata[i]);

  g_ptr_array_sort (wanted, compare_strings);
  g_ptr_array_sort (found, compare_strings);
  for (guint i = 0; i < MIN (wanted->len, found->len); i++)
    g_assert_cmpstr (found->pdata[i], ==, wanted->pdata[i]);
  g_assert_cmpuint (found->len, ==, wanted->len);
}

static const GDBusInterfaceInfo *const service[] = {
  &us_org_undersign1_agent_interface,
  &us_org_undersign1_approver_interface,
  &us_org_undersign1_request_interface,
  NULL,
};

static const GDBusInterfaceInfo *const admin[] = {
  &us_org_undersign1_admin_interface,
  NULL,
};

static void
test_service_policy (void)
{
  check_policy (US_BUS_NAME, "undersign", service,
                "org.freedesktop.DBus.Introspectable.Introspect");
}

static void
test_admin_policy (void)
{
  check_policy (US_ADMIN_BUS_NAME, "root", admin, NULL);
}

static void
test_no_properties (void)
{
  for (guint i = 0; service[i] != NULL; i++)
    g_assert_true (service[i]->properties == NULL || service[i]->properties[0] == NULL);
  g_assert_true (admin[0]->properties == NULL || admin[0]->properties[0] == NULL);
}

/* The comment before a member, and the member itself. */
typedef struct
{
  char *comment;
  char *member_comment;
  char *member;
  guint described;
} Prose;

static void
prose_comment (GMarkupParseContext *context,
               const char *text,
               gsize len,
               gpointer data,
               GError **error)
{
  Prose *prose = data;

  g_free (prose->comment);
  prose->comment = g_strndup (text, len);
}

static void
prose_start (GMarkupParseContext *context,
             const char *element,
             const char **names,
             const char **values,
             gpointer data,
             GError **error)
{
  Prose *prose = data;
  const char *name = attribute (names, values, "name");
  g_autofree char *mark = NULL;

  if (strcmp (element, "method") == 0 || strcmp (element, "signal") == 0 ||
      strcmp (element, "interface") == 0)
    {
      g_free (prose->member_comment);
      prose->member_comment = g_steal_pointer (&prose->comment);
      g_free (prose->member);
      prose->member = g_strdup (name);
      mark = g_strdup_printf ("%s:\n", name);
    }
  else if (strcmp (element, "arg") == 0)
    mark = g_strdup_printf ("@%s:", name);
  else
    return;

  if (prose->member_comment == NULL || strstr (prose->member_comment, mark) == NULL)
    g_error ("%s: no \"%s\" in the comment before it", prose->member, mark);
  prose->described++;
}

static void
check_prose (const char *bus_name)
{
  static const GMarkupParser parser = { .start_element = prose_start,
                                        .passthrough = prose_comment };
  g_autofree char *text = file_load (bus_name, ".xml");
  Prose prose = { NULL, NULL, NULL, 0 };

  markup_parse (&parser, text, &prose);
  g_assert_cmpuint (prose.described, >, 20);
  g_free (prose.comment);
  g_free (prose.member_comment);
  g_free (prose.member);
}

static void
test_prose (void)
{
  check_prose (US_BUS_NAME);
  check_prose (US_ADMIN_BUS_NAME);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bus-policy/service", test_service_policy);
  g_test_add_func ("/bus-policy/admin", test_admin_policy);
  g_test_add_func ("/bus-policy/no-properties", test_no_properties);
  g_test_add_func ("/bus-policy/prose", test_prose);
  return g_test_run ();
}
