/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GetReceipt over the bus: who is given one, and what the executor is asked. */
#include "tests/broker/caller.h"
#include "tests/broker/sample.h"

#include <string.h>

/* To those who were asked, before and after the end; the record goes along. */
static void
test_receipt (Bed *bed, gconstpointer config)
{
  g_autoptr (Caller) agent = bed_caller (bed, FAKE_AGENT);
  g_autoptr (Caller) lead = bed_caller (bed, FAKE_LEAD);
  g_autofree char *run = caller_open_run (agent, "ticket");
  g_autofree char *path = caller_submit (agent, run, "a@example.com", NULL);

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GVariant) reply =
          caller_approver (lead, "GetReceipt", g_variant_new ("(o)", path), &error);
      g_autoptr (GVariant) receipt = NULL;
      g_autoptr (GVariant) denied = NULL;
      g_autofree char *text = NULL;
      g_autofree char *start = g_strconcat (request_id_of (path), " ", NULL);

      g_assert_no_error (error);
      receipt = g_variant_get_child_value (reply, 0);
      text = g_strndup (g_variant_get_data (receipt), g_variant_get_size (receipt));
      g_assert_true (g_str_has_prefix (text, start));
      g_assert_cmpuint (g_ascii_strtoull (text + strlen (start), NULL, 10), >, 100);
      if (i == 0)
        denied = caller_approver (lead, "Deny", g_variant_new ("(osa{sv})", path, "other", NULL),
                                  &error);
      g_assert_no_error (error);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  bed_test ("/broker/receipt/for-whom", NULL, test_receipt);
  return g_test_run ();
}
