/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Users that were looked up once: nobody is asked again, whoever is not there does not exist, and
 * who has changed since neither acts, nor is acted for, nor approves.
 */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/policy/image.h"
#include "tests/policy/set.h"

#include <string.h>

#define RULE                                                                                       \
  "[Rule one]\nAgents=offboarding\nActions=mail.send\nDecision=ask\nApprovers=@agents @hr\n"       \
  "Passkeys=software\n"

static gboolean
nobody_by_name (const char *name, uid_t *out_uid)
{
  g_test_message ("%s was looked up", name);
  g_assert_not_reached ();
}

static gboolean
nobody_by_uid (uid_t uid, char **out_name)
{
  g_test_message ("uid %u was looked up", (guint) uid);
  g_assert_not_reached ();
}

static const PolicyNames nobody = { .user_by_name = nobody_by_name, .user_by_uid = nobody_by_uid };

static GBytes *
resolved_image (Set *set)
{
  g_autoptr (GBytes) image = set_image (set);

  return policy_resolve (image, &set_names);
}

static Policy *
resolved_parse (const PolicyNames *names)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (GBytes) image = NULL;
  g_autoptr (GError) error = NULL;
  Policy *policy = NULL;

  set_put (set, "rules/x.rule", RULE);
  image = resolved_image (set);
  policy = policy_parse (image, names, &error);
  g_assert_no_error (error);
  return policy;
}

static void
test_asks_nobody (void)
{
  g_autoptr (Policy) policy = resolved_parse (&nobody);
  const PolicyAgent *agent = policy_agent_by_name (policy, "offboarding");

  g_assert_cmpuint (agent->uid, ==, 2001);
  g_assert_cmpstr (agent->user, ==, "agent-offboarding");
  g_assert_cmpuint (agent->owner_uid, ==, 3001);
}

/* Resolving twice is as once: nothing that was found is asked again. */
static void
test_once (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (GBytes) image = resolved_image (set);
  g_autoptr (GBytes) again = policy_resolve (image, &nobody);

  g_assert_true (g_bytes_equal (image, again));
}

/* What the directory did not know then is a fault, also where it knows by now. */
static void
test_absent (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (GBytes) image = NULL;
  g_autoptr (GError) error = NULL;

  set_move_user ("hr.jones", SET_GONE);
  image = resolved_image (set);
  set_move_user (NULL, 0);
  g_assert_null (policy_parse (image, &set_names, &error));
  g_assert_error (error, US_ERROR, US_ERROR_POLICY_INVALID);
  g_assert_nonnull (strstr (error->message, "there is no user 'hr.jones'"));
}

static const struct
{
  const char *name;
  uid_t uid;
} moves[] = {
  { "agent-offboarding", SET_GONE }, { "agent-offboarding", 2999 }, { "agent-offboarding", 3004 },
  { "hr.jones", SET_GONE },          { "hr.jones", 3999 },
};

static void
test_changed_since (void)
{
  g_autoptr (Policy) policy = resolved_parse (&set_names);
  const PolicyAgent *agent = policy_agent_by_name (policy, "offboarding");
  const PolicyAgent *other = policy_agent_by_name (policy, "other");
  g_autoptr (GError) error = NULL;

  g_assert_true (policy_agent_check (policy, agent, &error));
  for (guint i = 0; i < G_N_ELEMENTS (moves); i++)
    {
      set_move_user (moves[i].name, moves[i].uid);
      g_assert_false (policy_agent_check (policy, agent, &error));
      g_assert_error (error, US_ERROR, US_ERROR_POLICY_INVALID);
      g_assert_true (us_error_has_reason (error, US_REASON_POLICY_INVALID));
      g_clear_error (&error);
    }
  /* whom it has nothing to do with goes on */
  g_assert_true (policy_agent_check (policy, other, &error));
  set_move_user (NULL, 0);
  g_assert_true (policy_agent_check (policy, agent, &error));
}

/* An agent's user does not become a person by a new uid. */
static void
test_agent_is_no_person (void)
{
  g_autoptr (Policy) policy = resolved_parse (&set_names);
  g_autoptr (Record) record =
      set_record (policy, "offboarding", "main", "mail.send",
                  "[('to', <['a@example.com']>), ('subject', <'x'>)]", NULL, NULL);
  g_autoptr (PolicyDecision) decision = policy_decide (policy, record);
  const PolicyRequirement *requirement = decision->requirements->pdata[0];
  g_autoptr (GError) error = NULL;

  set_move_user ("agent-other", 2999);
  g_assert_true (policy_uid_is_barred (policy, 2999));
  g_assert_false (policy_may_approve (policy, requirement, record, "agent-other", 2999,
                                      PASSKEY_SOFTWARE, &error));
  g_assert_true (us_error_has_reason (error, US_REASON_AGENT_UID));
  set_move_user (NULL, 0);
}

/* --- the form --- */

static const char *const bad_users[] = {
  "[('hr.jones', true, 3001, true), ('agent-other', true, 2002, true)]",
  "[('hr.jones', true, 3001, true), ('hr.jones', true, 3001, true)]",
  "[('hr.jones', false, 3001, false)]",
  "[('hr.jones', false, 0, true)]",
  "[('', true, 3001, true)]",
  "[('@hr', true, 3001, true)]",
};

static GBytes *
image_with (GBytes *inner, gsize inner_len, const char *users)
{
  g_autoptr (GVariant) value = g_variant_ref_sink (g_variant_new_parsed (users));
  ImageHead head = IMAGE_HEAD_INIT;
  GByteArray *out = g_byte_array_new ();
  gsize len;
  const guint8 *data = g_bytes_get_data (inner, &len);

  head.image_len = GUINT64_TO_LE ((guint64) inner_len);
  g_byte_array_append (out, (const guint8 *) &head, sizeof head);
  g_byte_array_append (out, data, (guint) len);
  g_byte_array_append (out, g_variant_get_data (value), (guint) g_variant_get_size (value));
  return g_byte_array_free_to_bytes (out);
}

static void
assert_refused (GBytes *image, const char *says)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (policy_parse (image, &nobody, &error));
  g_assert_error (error, US_ERROR, US_ERROR_POLICY_INVALID);
  g_assert_nonnull (strstr (error->message, says));
}

static void
test_form (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (GBytes) plain = set_image (set);
  g_autoptr (GBytes) resolved = policy_resolve (plain, &set_names);
  gsize len = g_bytes_get_size (plain);
  g_autoptr (GBytes) twice = image_with (resolved, g_bytes_get_size (resolved), "@a(sbub) []");
  g_autoptr (GBytes) none = image_with (plain, len, "@a(sbub) []");
  g_autoptr (GBytes) longer = image_with (plain, len + 1, "@a(sbub) []");
  g_autoptr (GBytes) shorter = image_with (plain, len - 1, "@a(sbub) []");
  g_autoptr (GBytes) cut = g_bytes_new_from_bytes (resolved, 0, g_bytes_get_size (resolved) - 1);
  g_autoptr (GBytes) junk = g_bytes_new_static ("junk", 4);
  g_autoptr (GBytes) same = policy_resolve (junk, &nobody);

  for (guint i = 0; i < G_N_ELEMENTS (bad_users); i++)
    {
      g_autofree char *text = g_strconcat ("@a(sbub) ", bad_users[i], NULL);
      g_autoptr (GBytes) image = image_with (plain, len, text);

      assert_refused (image, "not of the form");
    }
  assert_refused (twice, "not of the form");
  assert_refused (longer, "not of the form");
  assert_refused (shorter, "not of the form");
  assert_refused (cut, "not of the form");
  assert_refused (none, "there is no user");
  g_assert_true (g_bytes_equal (junk, same));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/resolve/asks-nobody", test_asks_nobody);
  g_test_add_func ("/policy/resolve/once", test_once);
  g_test_add_func ("/policy/resolve/absent", test_absent);
  g_test_add_func ("/policy/resolve/changed-since", test_changed_since);
  g_test_add_func ("/policy/resolve/agent-is-no-person", test_agent_is_no_person);
  g_test_add_func ("/policy/resolve/form", test_form);
  return g_test_run ();
}
