/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Header fields and encodings, byte by byte, and the values that must never get into a header. */
#include "module/executor/mail/mime.h"

#include <string.h>

#define U_UMLAUT "\xc3\xbc"

static void
test_unclean_values (void)
{
  static const char *const unclean[] = {
    "a\r\nBcc: evil@example.com",
    "a\nBcc: evil@example.com",
    "a\rBcc: evil@example.com",
    "a\r\n\r\nbody",
    "\na",
    "a\n",
    "a\tb",
    "a\x1b[2K",
    "a\x7f",
    "a\xc2\x85"
    "b",
    "\xff",
    "a\xc0\x8a"
    "b",
    "a\xed\xa0\x80",
    "\x01",
    "a\x0b"
    "b",
    "a\x0c"
    "b",
  };

  for (guint i = 0; i < G_N_ELEMENTS (unclean); i++)
    {
      g_test_message ("%u", i);
      g_assert_false (value_is_clean (unclean[i]));
      g_assert_false (address_is_clean (unclean[i]));
    }
  g_assert_true (value_is_clean (""));
  g_assert_true (value_is_clean ("plain"));
  g_assert_true (value_is_clean ("gr" U_UMLAUT "n \xe2\x80\xae \xf0\x9f\x98\x80"));
}

static void
test_unclean_addresses (void)
{
  static const char *const unclean[] = {
    "",
    "@",
    "a@",
    "@b",
    "a",
    "a@b@c",
    "a b@example.com",
    "a@example.com ",
    " a@example.com",
    "a@exam ple.com",
    "<a@example.com>",
    "A <a@example.com>",
    "a@example.com,b@example.com",
    "a@example.com;b@example.com",
    "a@example.com>\r\nRCPT TO:<evil@example.com",
    "a@example.com> SIZE=1",
    "\"a b\"@example.com",
    "a@[127.0.0.1]",
    "a@Example.com",
    "a@ex\xc3\xa4mple.com",
    "\xc3\xa4@example.com",
    "a@example.com(comment)",
    "a@example.com:25",
    "a\\@example.com",
    "a@example.com/x",
    "a@example.com?x",
    "a@example.com%0d%0aRCPT",
  };

  for (guint i = 0; i < G_N_ELEMENTS (unclean); i++)
    {
      g_test_message ("%s", unclean[i]);
      g_assert_false (address_is_clean (unclean[i]));
    }
  g_assert_true (address_is_clean ("a@b"));
  g_assert_true (address_is_clean ("a.b+c=d!#$%&'*-/?^_`{|}~@xn--exmple-cua.com"));
}

static void
abort_with_text (void)
{
  g_autoptr (GString) out = g_string_new (NULL);

  header_add_text (out, "Subject", "a\r\nBcc: evil@example.com");
}

static void
abort_with_address (void)
{
  g_autoptr (GString) out = g_string_new (NULL);

  header_add_addresses (out, "To", (const char *const[]){ "a@b\r\nBcc: c@d", NULL });
}

static void
abort_with_file_name (void)
{
  g_autoptr (GString) out = g_string_new (NULL);

  header_add_attachment (out, "a\r\nBcc: evil@example.com");
}

/* Even a caller that forgot to ask cannot write one. */
static void
test_unclean_aborts (void)
{
  static void (*const functions[]) (void) = { abort_with_text, abort_with_address,
                                              abort_with_file_name };
  const char *number = g_getenv ("ABORT");

  if (number != NULL)
    {
      functions[number[0] - '0']();
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      g_autofree char *text = g_strdup_printf ("%u", i);

      g_assert_true (g_setenv ("ABORT", text, TRUE));
      g_test_trap_subprocess ("/mail/mime/unclean-aborts", 0, 0);
      g_test_trap_assert_failed ();
      g_unsetenv ("ABORT");
    }
}

/* --- bytes --- */

static const struct
{
  const char *text;
  const char *header;
} subjects[] = {
  { "", "Subject: \r\n" },
  { "Report", "Subject: Report\r\n" },
  { "Report: (final) <draft> \"x\"", "Subject: Report: (final) <draft> \"x\"\r\n" },
  { " lead", "Subject: =?utf-8?B?IGxlYWQ=?=\r\n" },
  { "trail ", "Subject: =?utf-8?B?dHJhaWwg?=\r\n" },
  { "Gr" U_UMLAUT "n", "Subject: =?utf-8?B?R3LDvG4=?=\r\n" },
  { "=?utf-8?Q?forged?=", "Subject: =?utf-8?B?PT91dGYtOD9RP2ZvcmdlZD89?=\r\n" },
  { "1234567890123456789012345678901234567890123456789012345678901234567",
    "Subject: 1234567890123456789012345678901234567890123456789012345678901234567\r\n" },
  { "12345678901234567890123456789012345678901234567890123456789012345678",
    "Subject: =?utf-8?B?MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5?=\r\n"
    " =?utf-8?B?MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg=?=\r\n" },
};

static void
test_subject (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (subjects); i++)
    {
      g_autoptr (GString) out = g_string_new (NULL);

      header_add_text (out, "Subject", subjects[i].text);
      g_assert_cmpstr (out->str, ==, subjects[i].header);
    }
}

static void
check_lines (const GString *out, gsize most)
{
  g_auto (GStrv) lines = g_strsplit (out->str, "\r\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_assert_cmpuint (strlen (lines[i]), <=, most);
      g_assert_null (strpbrk (lines[i], "\r\n"));
      for (const char *c = lines[i]; *c != '\0'; c++)
        g_assert_true (*c == '\t' || g_ascii_isprint (*c));
    }
}

/* Encoded words are cut between characters, and together give the text again. */
static void
test_long_subject (void)
{
  static const char *const units[] = { "x", U_UMLAUT, "\xe2\x82\xac", "\xf0\x9f\x98\x80",
                                       ("a" U_UMLAUT) };

  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    for (guint n = 60; n < 90; n++)
      {
        g_autoptr (GString) text = g_string_new (NULL);
        g_autoptr (GString) out = g_string_new (NULL);
        g_autoptr (GString) decoded = g_string_new (NULL);
        g_auto (GStrv) words = NULL;

        for (guint j = 0; j < n; j++)
          g_string_append (text, units[i]);
        header_add_text (out, "Subject", text->str);
        check_lines (out, 76);
        words = g_strsplit (out->str, "=?utf-8?B?", -1);
        if (words[1] == NULL)
          continue;
        for (guint j = 1; words[j] != NULL; j++)
          {
            g_autofree guchar *part = NULL;
            gsize len = 0;

            strstr (words[j], "?=")[0] = '\0';
            part = g_base64_decode (words[j], &len);
            g_assert_true (g_utf8_validate ((const char *) part, (gssize) len, NULL));
            g_string_append_len (decoded, (const char *) part, (gssize) len);
          }
        g_assert_cmpstr (decoded->str, ==, text->str);
      }
}

static void
test_addresses (void)
{
  static const char *const three[] = { "alice.the.first@example.com", "bob.the.second@example.com",
                                       "carol@example.com", NULL };
  static const char *const one[] = { "a@example.com", NULL };
  g_autofree char *local = g_strnfill (64, 'l');
  g_autofree char *address = g_strconcat (local, "@example.com", NULL);
  const char *const two_long[] = { address, address, NULL };
  g_autoptr (GString) out = g_string_new (NULL);

  header_add_addresses (out, "To", one);
  g_assert_cmpstr (out->str, ==, "To: a@example.com\r\n");
  g_string_truncate (out, 0);
  header_add_addresses (out, "Cc", three);
  g_assert_cmpstr (out->str, ==,
                   "Cc: alice.the.first@example.com, bob.the.second@example.com,\r\n"
                   " carol@example.com\r\n");
  g_string_truncate (out, 0);
  header_add_addresses (out, "To", two_long);
  g_assert_true (g_str_has_prefix (out->str, "To: llll"));
  g_assert_nonnull (strstr (out->str, "example.com,\r\n llll"));
}

static void
test_date (void)
{
  static const struct
  {
    gint64 seconds;
    const char *header;
  } dates[] = {
    { 0, "Date: Thu, 01 Jan 1970 00:00:00 +0000\r\n" },
    { 951782399, "Date: Mon, 28 Feb 2000 23:59:59 +0000\r\n" },
    { 1796029445, "Date: Mon, 30 Nov 2026 09:04:05 +0000\r\n" },
    { 4102444799, "Date: Thu, 31 Dec 2099 23:59:59 +0000\r\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (dates); i++)
    {
      g_autoptr (GString) out = g_string_new (NULL);

      header_add_date (out, dates[i].seconds);
      g_assert_cmpstr (out->str, ==, dates[i].header);
    }
}

static const struct
{
  const char *name;
  const char *header;
} file_names[] = {
  { "report.pdf", "Content-Disposition: attachment;\r\n filename=\"report.pdf\"\r\n" },
  { "my report+1_a-b.pdf",
    "Content-Disposition: attachment;\r\n filename=\"my report+1_a-b.pdf\"\r\n" },
  { "a\".pdf", "Content-Disposition: attachment;\r\n filename*=utf-8''a%22.pdf\r\n" },
  { "a\";x=\"y", "Content-Disposition: attachment;\r\n filename*=utf-8''a%22%3Bx%3D%22y\r\n" },
  { "gr" U_UMLAUT "n.pdf",
    "Content-Disposition: attachment;\r\n filename*=utf-8''gr%C3%BCn.pdf\r\n" },
  { "%41.pdf", "Content-Disposition: attachment;\r\n filename*=utf-8''%2541.pdf\r\n" },
  { "=?utf-8?Q?a?=",
    "Content-Disposition: attachment;\r\n filename*=utf-8''%3D%3Futf-8%3FQ%3Fa%3F%3D\r\n" },
};

static void
test_file_names (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (file_names); i++)
    {
      g_autoptr (GString) out = g_string_new (NULL);

      header_add_attachment (out, file_names[i].name);
      g_assert_cmpstr (out->str, ==, file_names[i].header);
    }
}

/* The pieces of a long name together give it again, and none cuts a %XX. */
static void
test_long_file_names (void)
{
  static const char *const units[] = { "x", U_UMLAUT, "a ", ("\xe2\x82\xac" "1"), "%" };

  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    for (guint n = 51; n < 130; n++)
      {
        g_autoptr (GString) name = g_string_new (NULL);
        g_autoptr (GString) out = g_string_new (NULL);
        g_autoptr (GString) encoded = g_string_new (NULL);
        g_autofree char *decoded = NULL;
        g_auto (GStrv) lines = NULL;

        for (guint j = 0; j < n; j++)
          g_string_append (name, units[i]);
        header_add_attachment (out, name->str);
        check_lines (out, 76);
        lines = g_strsplit (out->str, "\r\n", -1);
        for (guint j = 1; *lines[j] != '\0'; j++)
          {
            g_autofree char *begin =
                g_strdup_printf (" filename*%u*=%s", j - 1, j == 1 ? "utf-8''" : "");
            gsize len = strlen (lines[j]);

            g_assert_true (g_str_has_prefix (lines[j], begin));
            if (lines[j][len - 1] == ';')
              lines[j][--len] = '\0';
            g_assert_cmpint (lines[j][len - 1], !=, '%');
            g_assert_cmpint (lines[j][len - 2], !=, '%');
            g_string_append (encoded, lines[j] + strlen (begin));
          }
        decoded = g_uri_unescape_string (encoded->str, NULL);
        g_assert_cmpstr (decoded, ==, name->str);
      }
}

static const struct
{
  const char *text;
  const char *encoded;
} bodies[] = {
  { "", "" },
  { "a", "a" },
  { "a\n", "a\r\n" },
  { "a\n\n\nb", "a\r\n\r\n\r\nb" },
  { "a=b", "a=3Db" },
  { "a \nb\t\nc ", "a=20\r\nb=09\r\nc=20" },
  { "a b\tc", "a b\tc" },
  { ".\n..\n.a", "=2E\r\n=2E.\r\n=2Ea" },
  { "From me\nFromage\n From me", "=46rom me\r\nFromage\r\n From me" },
  { U_UMLAUT "\x1b\x7f", "=C3=BC=1B=7F" },
  { "a\rb", "a=0Db" },
  { "--=_0123", "--=3D_0123" },
  /* 76 characters fit, a 77th does not. */
  { "1234567890123456789012345678901234567890123456789012345678901234567890123456",
    "1234567890123456789012345678901234567890123456789012345678901234567890123456" },
  { "12345678901234567890123456789012345678901234567890123456789012345678901234567",
    "123456789012345678901234567890123456789012345678901234567890123456789012345=\r\n67" },
  /* What comes to stand at the beginning of a line by a soft break. */
  { "123456789012345678901234567890123456789012345678901234567890123456789012345.a",
    "123456789012345678901234567890123456789012345678901234567890123456789012345=\r\n=2Ea" },
  { "123456789012345678901234567890123456789012345678901234567890123456789012345From a",
    "123456789012345678901234567890123456789012345678901234567890123456789012345=\r\n=46rom a" },
  { "12345678901234567890123456789012345678901234567890123456789012345678901234" U_UMLAUT,
    "12345678901234567890123456789012345678901234567890123456789012345678901234=\r\n=C3=BC" },
};

static void
test_quoted_printable (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (bodies); i++)
    {
      g_autoptr (GString) out = g_string_new (NULL);

      quoted_printable_add (out, bodies[i].text);
      g_assert_cmpstr (out->str, ==, bodies[i].encoded);
      check_lines (out, 76);
    }
}

static void
test_base64 (void)
{
  for (gsize len = 0; len < 400; len++)
    {
      g_autofree guint8 *data = g_malloc (len + 1);
      g_autoptr (GString) out = g_string_new (NULL);
      g_autofree guchar *decoded = NULL;
      gsize decoded_len = 0;

      for (gsize i = 0; i < len; i++)
        data[i] = (guint8) g_test_rand_int ();
      base64_add (out, data, len);
      check_lines (out, 76);
      g_assert_cmpuint (out->len, ==, base64_size (len));
      decoded = g_base64_decode (out->str, &decoded_len);
      g_assert_cmpmem (decoded, decoded_len, data, len);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/mail/mime/unclean-values", test_unclean_values);
  g_test_add_func ("/mail/mime/unclean-addresses", test_unclean_addresses);
  g_test_add_func ("/mail/mime/unclean-aborts", test_unclean_aborts);
  g_test_add_func ("/mail/mime/subject", test_subject);
  g_test_add_func ("/mail/mime/long-subject", test_long_subject);
  g_test_add_func ("/mail/mime/addresses", test_addresses);
  g_test_add_func ("/mail/mime/date", test_date);
  g_test_add_func ("/mail/mime/file-names", test_file_names);
  g_test_add_func ("/mail/mime/long-file-names", test_long_file_names);
  g_test_add_func ("/mail/mime/quoted-printable", test_quoted_printable);
  g_test_add_func ("/mail/mime/base64", test_base64);
  return g_test_run ();
}
