/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is no statement, and that each member of one changes the challenge. */
#include "service/record/statement.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

#define BAD US_REASON_BAD_STATEMENT
#define ZEROS "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define DIGEST "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define REQUEST "0123456789abcdef0123456789abcdef"

static const char golden[] =
    "{\"approver\":{\"name\":\"it.lead\",\"uid\":\"1002\"},\"credential\":\"AQID\","
    "\"decision\":\"approve\",\"expires\":\"2026-11-30T09:30:00Z\","
    "\"format\":\"undersign.statement/1\",\"issued\":\"2026-11-30T09:00:00Z\","
    "\"nonce\":\"" ZEROS "\",\"record\":\"" DIGEST "\",\"request\":\"" REQUEST "\","
    "\"rp\":\"undersign:00112233445566778899aabbccddeeff\",\"seal\":\"" ZEROS "\","
    "\"supersedes\":{\"digest\":\"" DIGEST "\",\"request\":\"" REQUEST "\"}}";

static const Statement sample = {
  .decision = (char *) "approve",
  .request = (char *) REQUEST,
  .record = (char *) DIGEST,
  .approver_name = (char *) "it.lead",
  .approver_uid = 1002,
  .credential = (char *) "AQID",
  .rp = (char *) "undersign:00112233445566778899aabbccddeeff",
  .seal = (char *) ZEROS,
  .nonce = (char *) ZEROS,
  .issued = (char *) "2026-11-30T09:00:00Z",
  .expires = (char *) "2026-11-30T09:30:00Z",
  .supersedes_request = (char *) REQUEST,
  .supersedes_digest = (char *) DIGEST,
};

static GBytes *
changed (const char *from, const char *to)
{
  g_autoptr (GString) copy = g_string_new (golden);

  if (g_string_replace (copy, from, to, 1) != 1)
    g_error ("the sample does not hold %s", from);
  return g_bytes_new (copy->str, copy->len);
}

static void
test_golden (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = statement_encode (&sample, &error);
  g_autoptr (Statement) back = NULL;
  g_autoptr (GBytes) again = NULL;
  g_autofree char *pae = g_strdup_printf (
      "DSSEv1 43 application/vnd.undersign.statement.v1+json %" G_GSIZE_FORMAT " %s",
      strlen (golden), golden);
  g_autofree char *expected = g_compute_checksum_for_string (G_CHECKSUM_SHA256, pae, -1);
  g_autofree char *digest = NULL;
  guint8 challenge[PAE_DIGEST_SIZE];

  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), golden,
                   strlen (golden));
  back = statement_decode (bytes, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (back->approver_uid, ==, 1002);
  g_assert_cmpstr (back->supersedes_request, ==, REQUEST);
  again = statement_encode (back, &error);
  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (bytes, again));

  statement_challenge (bytes, challenge);
  digest = digest_to_string (challenge);
  g_assert_true (g_str_has_suffix (digest, expected));
}

static void
test_without_supersedes (void)
{
  g_autoptr (GBytes) bytes =
      changed (",\"supersedes\":{\"digest\":\"" DIGEST "\",\"request\":\"" REQUEST "\"}", "");
  g_autoptr (GError) error = NULL;
  g_autoptr (Statement) statement = statement_decode (bytes, &error);

  g_assert_no_error (error);
  g_assert_null (statement->supersedes_request);
  g_assert_null (statement->supersedes_digest);
}

static const struct
{
  const char *from, *to, *reason, *text;
} refused[] = {
  { "undersign.statement/1", "undersign.statement/2", BAD, "format" },
  { "approve\"", "approved\"", BAD, "decision" },
  { "approve\"", "Approve\"", BAD, "decision" },
  { "approve\"", "\"", BAD, "decision" },
  { "\"decision\":\"approve\"", "\"decision\":true", BAD, "decision" },
  { "\"decision\":\"approve\",", "", BAD, "no member decision" },
  { "\"uid\":\"1002\"", "\"uid\":1002", BAD, "approver" },
  { "\"uid\":\"1002\"", "\"uid\":\"01002\"", BAD, "approver" },
  { "\"uid\":\"1002\"", "\"uid\":\"4294967295\"", BAD, "approver" },
  { "it.lead", "", BAD, "approver" },
  { "it.lead", "it lead", BAD, "approver" },
  { "{\"name\":\"it.lead\",\"uid\":\"1002\"}", "\"it.lead\"", BAD, "approver" },
  { "AQID", "", BAD, "credential" },
  { "AQID", "AQID=", BAD, "credential" },
  { "AQID", "AQIE+", BAD, "credential" },
  { "AQID", "AR", BAD, "credential" },
  { "\"nonce\":\"A", "\"nonce\":\"", BAD, "nonce" },
  { "\"nonce\":\"A", "\"nonce\":\"AAAA", BAD, "nonce" },
  { "\"seal\":\"A", "\"seal\":\"", BAD, "seal" },
  { "\"record\":\"sha256:", "\"record\":\"", BAD, "record" },
  { "\"record\":\"sha256:00", "\"record\":\"sha256:0A", BAD, "record" },
  { "\"request\":\"01", "\"request\":\"", BAD, "request" },
  { "09:30:00Z", "09:30:00+00:00", BAD, "expires" },
  { "09:00:00Z", "", BAD, "issued" },
  { "undersign:00", "undersign:", BAD, "rp" },
  { "\"rp\":\"undersign:00112233445566778899aabbccddeeff\"", "\"rp\":\"\"", BAD, "rp" },
  { "\"rp\":\"undersign:00112233445566778899aabbccddeeff\"", "\"rp\":\"Example.com\"", BAD, "rp" },
  { "\"rp\":\"undersign:00112233445566778899aabbccddeeff\"", "\"rp\":\"https://a.org\"", BAD,
    "rp" },
  { "{\"digest\"", "{\"digests\"", BAD, "no member digest" },
  { "{\"digest\":\"" DIGEST "\",\"request\":\"" REQUEST "\"}", "\"\"", BAD, "supersedes" },
  { "\"seal\":", "\"sea\":\"\",\"seal\":", BAD, "a member too many" },
  { "{\"approver\"", " {\"approver\"", BAD, "canonical form" },
  { "it.lead", "it.\\u006cead", BAD, "canonical form" },
  { "\"record\":", "\"request\":\"" REQUEST "\",\"record\":", US_REASON_BAD_JSON, NULL },
};

static void
test_refused (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (GBytes) bytes = changed (refused[i].from, refused[i].to);
      g_autoptr (GError) error = NULL;
      g_autoptr (Statement) statement = statement_decode (bytes, &error);

      if (statement != NULL || !us_error_has_reason (error, refused[i].reason) ||
          (refused[i].text != NULL && strstr (error->message, refused[i].text) == NULL))
        g_error ("%s: got %s", refused[i].to, error != NULL ? error->message : "a statement");
    }
}

static void
test_rp_of_a_browser (void)
{
  g_autoptr (GBytes) bytes = changed ("undersign:00112233445566778899aabbccddeeff", "approve.test");
  g_autoptr (Statement) statement = statement_decode (bytes, NULL);

  g_assert_nonnull (statement);
}

static void
test_every_byte (void)
{
  guint8 challenge[PAE_DIGEST_SIZE], other[PAE_DIGEST_SIZE];
  g_autoptr (GBytes) bytes = g_bytes_new_static (golden, strlen (golden));

  statement_challenge (bytes, challenge);
  for (gsize i = 0; i < strlen (golden); i++)
    {
      g_autofree char *copy = g_strdup (golden);
      g_autoptr (GBytes) flipped = NULL;
      g_autoptr (Statement) statement = NULL;

      copy[i] ^= 0x01;
      flipped = g_bytes_new (copy, strlen (golden));
      statement = statement_decode (flipped, NULL);
      statement_challenge (flipped, other);
      g_assert_false (digest_equal (challenge, other));
    }
}

static void
test_encode_refuses (void)
{
  Statement half = sample, uid = sample, decision = sample;
  g_autoptr (GError) error = NULL;

  half.supersedes_digest = NULL;
  g_assert_null (statement_encode (&half, &error));
  g_assert_true (us_error_has_reason (error, BAD));
  g_clear_error (&error);
  uid.approver_uid = G_MAXUINT32;
  g_assert_null (statement_encode (&uid, &error));
  g_assert_true (us_error_has_reason (error, BAD));
  g_clear_error (&error);
  decision.decision = (char *) "";
  g_assert_null (statement_encode (&decision, &error));
  g_assert_true (us_error_has_reason (error, BAD));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/statement/golden", test_golden);
  g_test_add_func ("/statement/without-supersedes", test_without_supersedes);
  g_test_add_func ("/statement/refused", test_refused);
  g_test_add_func ("/statement/rp-of-a-browser", test_rp_of_a_browser);
  g_test_add_func ("/statement/every-byte", test_every_byte);
  g_test_add_func ("/statement/encode-refuses", test_encode_refuses);
  return g_test_run ();
}
