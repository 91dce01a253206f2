/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What each type refuses, and that it names the canonical spelling instead of writing it. */
#include "service/record/type.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <string.h>

#define BAD US_REASON_BAD_VALUE
#define NOT US_REASON_NOT_CANONICAL

/* One string: accepted where @reason is NULL; @text is the canonical spelling or a part of why. */
static const struct
{
  const char *type;
  const char *value;
  const char *reason;
  const char *text;
} strings[] = {
  { "line", "hello, w\303\266rld", NULL, NULL },
  { "line", "", NULL, NULL },
  { "line", " two  spaces ", NULL, NULL },
  { "line", "\342\232\240\357\270\217", NULL, NULL }, /* a variation selector is escaped, not refused */
  { "line", "a\nb", BAD, "U+000A at byte 1" },
  { "line", "a\tb", BAD, "U+0009" },
  { "line", "a\033[J", BAD, "U+001B" },
  { "line", "a\177", BAD, "U+007F" },
  { "line", "a\302\233b", BAD, "U+009B" },
  { "line", "a\302\255b", BAD, "U+00AD" },
  { "line", "a\342\200\213b", BAD, "U+200B" },
  { "line", "report\342\200\256fdp.exe", BAD, "U+202E at byte 6" },
  { "line", "a\342\200\250b", BAD, "U+2028" },
  { "line", "a\357\273\277", BAD, "U+FEFF" },
  { "line", "ok\363\240\201\262", BAD, "U+E0072" },
  { "text", "a\nb\n\tc\033", NULL, NULL },
  { "text", "a\r\nb", NOT, "\"a\nb\"" },
  { "text", "a\rb", BAD, "U+000D at byte 1" },
  { "integer", "0", NULL, NULL },
  { "integer", "-5", NULL, NULL },
  { "integer", "18446744073709551615", NULL, NULL },
  { "integer", "99999999999999999999999999999999999999", NULL, NULL },
  { "integer", "999999999999999999999999999999999999999", BAD, "more than 38 digits" },
  { "integer", "007", NOT, "\"7\"" },
  { "integer", "+5", NOT, "\"5\"" },
  { "integer", "-0", NOT, "\"0\"" },
  { "integer", "-007", NOT, "\"-7\"" },
  { "integer", "1.0", BAD, "it has a fraction" },
  { "integer", "1e3", BAD, "more than digits" },
  { "integer", "0x10", BAD, "more than digits" },
  { "integer", " 5", BAD, "start with a digit" },
  { "integer", "5 ", BAD, "more than digits" },
  { "integer", "1,000", BAD, "more than digits" },
  { "integer", "-", BAD, "start with a digit" },
  { "integer", "\331\241", BAD, "start with a digit" },
  { "decimal", "12.5", NULL, NULL },
  { "decimal", "-0.5", NULL, NULL },
  { "decimal", "3", NULL, NULL },
  { "decimal", "12.50", NOT, "\"12.5\"" },
  { "decimal", "12.00", NOT, "\"12\"" },
  { "decimal", ".5", NOT, "\"0.5\"" },
  { "decimal", "5.", NOT, "\"5\"" },
  { "decimal", "-0.0", NOT, "\"0\"" },
  { "decimal", "012.5", NOT, "\"12.5\"" },
  { "decimal", "1.2.3", BAD, "more than digits" },
  { "decimal", "12,5", BAD, "more than digits" },
  { "decimal", "NaN", BAD, "start with a digit" },
  { "decimal", "1e-7", BAD, "more than digits" },
  { "money", "12.50 EUR", NULL, NULL },
  { "money", "-0.05 USD", NULL, NULL },
  { "money", "1000 JPY", NULL, NULL },
  { "money", "1.250 KWD", NULL, NULL },
  { "money", "0.00 EUR", NULL, NULL },
  { "money", "12.5 EUR", NOT, "\"12.50 EUR\"" },
  { "money", "12 EUR", NOT, "\"12.00 EUR\"" },
  { "money", "12.50 eur", NOT, "\"12.50 EUR\"" },
  { "money", "EUR 12.50", NOT, "\"12.50 EUR\"" },
  { "money", "012.50 EUR", NOT, "\"12.50 EUR\"" },
  { "money", "12.500 EUR", NOT, "\"12.50 EUR\"" },
  { "money", "12.00 JPY", NOT, "\"12 JPY\"" },
  { "money", "-0.00 EUR", NOT, "\"0.00 EUR\"" },
  { "money", "12.505 EUR", BAD, "EUR has 2 digits" },
  { "money", "12.50", BAD, "AMOUNT CODE" },
  { "money", "12.50EUR", BAD, "AMOUNT CODE" },
  { "money", "12.50  EUR", BAD, "not a currency" },
  { "money", "1 250.00 EUR", BAD, "not a currency" },
  { "money", "12.50 XYZ", BAD, "not a currency" },
  { "money", "12.50 XAU", BAD, "not a currency" },
  { "money", "12.50 EU", BAD, "not a currency" },
  { "money", "12.50 R E", BAD, "not a currency" },
  { "money", "\331\241\331\240 EUR", BAD, "start with a digit" },
  { "account", "j.smith", NULL, NULL },
  { "account", "J_Smith-2", NULL, NULL },
  { "account", "j.smith@corp.example", NULL, NULL },
  { "account", "WS1$", NULL, NULL },
  { "account", "-rf", BAD, "starts with" },
  { "account", ".hidden", BAD, "starts with" },
  { "account", "$", BAD, "starts with" },
  { "account", "a b", BAD, "ASCII letters" },
  { "account", "a$b", NULL, NULL },
  { "account", "j\320\260ne", BAD, "ASCII letters" },
  { "account", "a/b", BAD, "ASCII letters" },
  { "email", "j.smith@example.com", NULL, NULL },
  { "email", "J.Smith+x@xn--exmple-4nf.com", NULL, NULL },
  { "email", "root@localhost", NULL, NULL },
  { "email", "j.smith@Example.COM", NOT, "\"j.smith@example.com\"" },
  { "email", "j.smith@example.com.", NOT, "\"j.smith@example.com\"" },
  { "email", "alice@ex\320\260mple.com", NOT, "\"alice@xn--exmple-4nf.com\"" },
  { "email", "j.smith", BAD, "LOCAL@DOMAIN" },
  { "email", "a@b@example.com", BAD, "LOCAL@DOMAIN" },
  { "email", "@example.com", BAD, "before the @" },
  { "email", "j.smith@", BAD, "host name" },
  { "email", "J <j.smith@example.com>", BAD, "before the @" },
  { "email", "\"j s\"@example.com", BAD, "before the @" },
  { "email", "j..smith@example.com", BAD, "before the @" },
  { "email", ".j@example.com", BAD, "before the @" },
  { "email", "j.@example.com", BAD, "before the @" },
  { "email", "j@[192.0.2.1]", BAD, "host name" },
  { "email", "j@192.0.2.1", BAD, "last label is a number" },
  { "email", "alice@example.com\r\nBcc: evil", BAD, NULL },
  { "email", "ali\342\200\213ce@example.com", BAD, "before the @" },
  { "email", "\327\220@example.com", BAD, "before the @" },
  { "hostname", "www.example.com", NULL, NULL },
  { "hostname", "localhost", NULL, NULL },
  { "hostname", "192.0.2.1", NULL, NULL },
  { "hostname", "2001:db8::1", NULL, NULL },
  { "hostname", "r1---sn-x.example.com", NULL, NULL },
  { "hostname", "WWW.example.com", NOT, "\"www.example.com\"" },
  { "hostname", "www.example.com.", NOT, "\"www.example.com\"" },
  { "hostname", "m\303\274nchen.de", NOT, "\"xn--mnchen-3ya.de\"" },
  { "hostname", "example\342\200\244com", NOT, "\"example.com\"" },
  { "hostname", "2001:DB8::1", NOT, "\"2001:db8::1\"" },
  { "hostname", "2001:db8:0:0:0:0:0:1", NOT, "\"2001:db8::1\"" },
  { "hostname", "192.0.2.01", BAD, "last label is a number" },
  { "hostname", "192.0.2", BAD, "last label is a number" },
  { "hostname", "1.2.3.4.5", BAD, "last label is a number" },
  { "hostname", "0x7f000001", BAD, "last label is a number" },
  { "hostname", "a.0x7f", BAD, "last label is a number" },
  { "hostname", "::ffff:192.0.2.1", BAD, "embeds an IPv4 address" },
  { "hostname", "fe80::1%eth0", BAD, "RFC 5952" },
  { "hostname", "-a.com", BAD, "host name" },
  { "hostname", "a-.com", BAD, "host name" },
  { "hostname", "a..b", BAD, "host name" },
  { "hostname", ".", BAD, "host name" },
  { "hostname", "a b", BAD, "host name" },
  { "hostname", "a_b.com", BAD, "host name" },
  { "hostport", "smtp.example.com:587", NULL, NULL },
  { "hostport", "127.0.0.1:25", NULL, NULL },
  { "hostport", "[2001:db8::1]:443", NULL, NULL },
  { "hostport", "SMTP.example.com:587", NOT, "\"smtp.example.com:587\"" },
  { "hostport", "smtp.example.com:0587", NOT, "\"smtp.example.com:587\"" },
  { "hostport", "[2001:DB8::1]:443", NOT, "\"[2001:db8::1]:443\"" },
  { "hostport", "smtp.example.com", BAD, "port is missing" },
  { "hostport", "smtp.example.com:", BAD, "from 1 to 65535" },
  { "hostport", "smtp.example.com:0", BAD, "from 1 to 65535" },
  { "hostport", "smtp.example.com:65536", BAD, "from 1 to 65535" },
  { "hostport", "smtp.example.com:smtp", BAD, "from 1 to 65535" },
  { "hostport", "smtp.example.com:+25", BAD, "from 1 to 65535" },
  { "hostport", "2001:db8::1:443", BAD, "from 1 to 65535" },
  { "hostport", "[2001:db8::1", BAD, "brackets" },
  { "hostport", "[localhost]:25", BAD, "brackets" },
  { "hostport", ":25", BAD, "brackets" },
  { "url", "https://example.com/", NULL, NULL },
  { "url", "https://example.com:8443/a/b%20c?x=1&y=%2F#top", NULL, NULL },
  { "url", "https://[2001:db8::1]/", NULL, NULL },
  { "url", "https://example.com//a", NULL, NULL },
  { "url", "HTTPS://Example.com/", NOT, "\"https://example.com/\"" },
  { "url", "https://example.com", NOT, "\"https://example.com/\"" },
  { "url", "https://example.com?x=1", NOT, "\"https://example.com/?x=1\"" },
  { "url", "https://example.com:443/", NOT, "\"https://example.com/\"" },
  { "url", "http://example.com:080/", NOT, "\"http://example.com/\"" },
  { "url", "https://example.com/%7euser/%2f", NOT, "\"https://example.com/~user/%2F\"" },
  { "url", "https://example.com/\327\220", NOT, "\"https://example.com/%D7%90\"" },
  { "url", "https://example.com/a b", NOT, "\"https://example.com/a%20b\"" },
  { "url", "https://m\303\274nchen.de/", NOT, "\"https://xn--mnchen-3ya.de/\"" },
  { "url", "https://example.com/100%", NOT, "\"https://example.com/100%25\"" },
  { "url", "https://example.com/a\r\nb", NOT, "\"https://example.com/a%0D%0Ab\"" },
  { "url", "https://example.com/a/../b", BAD, "segment . or .." },
  { "url", "https://example.com/a/%2e%2e/b", BAD, NULL },
  { "url", "https://example.com/.", BAD, "segment . or .." },
  { "url", "https://user@example.com/", BAD, "no user name" },
  { "url", "https://example.com@evil.example/", BAD, "no user name" },
  { "url", "https://example.com/?", BAD, "empty query" },
  { "url", "https://example.com/#", BAD, "empty query" },
  { "url", "https://example.com/?#x", BAD, "empty query" },
  { "url", "https://example.com/#a#b", BAD, "percent-encoded" },
  { "url", "https:///etc/passwd", BAD, NULL },
  { "url", "file:///etc/passwd", BAD, NULL },
  { "url", "javascript:alert(1)", BAD, "SCHEME://HOST" },
  { "url", "//example.com/", BAD, "SCHEME://HOST" },
  { "url", "://example.com/", BAD, "SCHEME://HOST" },
  { "url", "1https://example.com/", BAD, "SCHEME://HOST" },
  { "url", "https://example.com:99999/", BAD, "from 1 to 65535" },
  { "url", "https://example.com:/", BAD, "from 1 to 65535" },
  { "path", "/", NULL, NULL },
  { "path", "/srv/data /etc", NULL, NULL },
  { "path", "/home/j\303\266rg/\303\234bersicht", NULL, NULL },
  { "path", "/etc\342\210\225passwd", NULL, NULL }, /* the division slash is shown escaped */
  { "path", "/a//b", NOT, "\"/a/b\"" },
  { "path", "/a/", NOT, "\"/a\"" },
  { "path", "//", NOT, "\"/\"" },
  { "path", "/a/./b", NOT, "\"/a/b\"" },
  { "path", "/A\314\212", NOT, "\"/\303\205\"" },
  { "path", "/srv/app/../../etc/shadow", BAD, ". or .." },
  { "path", "/..", BAD, ". or .." },
  { "path", "a/b", BAD, "starts with /" },
  { "path", "--output=/etc/passwd", BAD, "starts with /" },
  { "path", "~/a", BAD, "starts with /" },
  { "path", "/tmp/\033[J", BAD, "U+001B at byte 5" },
  { "path", "/tmp/a\nb", BAD, "U+000A" },
  { "path", "/tmp/a\302\240b", BAD, "U+00A0" },
  { "path", "/tmp/a\342\240\200b", BAD, "U+2800" },
  { "path", "/tmp/a\343\205\244b", BAD, "U+3164" },
  { "path", "/tmp/a\356\200\200b", BAD, "U+E000" },
  { "choice", "delete", NULL, NULL },
  { "choice", "a b", BAD, "without spaces" },
  { "choice", "\303\244", BAD, "printable ASCII" },
  { "timestamp", "2026-11-30T09:00:00Z", NULL, NULL },
  { "timestamp", "2026-11-30T10:00:00+01:00", NOT, "\"2026-11-30T09:00:00Z\"" },
  { "timestamp", "2026-11-30T09:00:00.000Z", NOT, "\"2026-11-30T09:00:00Z\"" },
  { "timestamp", "2026-11-30T09:00:00+00:00", NOT, "\"2026-11-30T09:00:00Z\"" },
  { "timestamp", "2026-11-30T09:00:00", BAD, "in UTC" },
  { "timestamp", "2026-11-30T09:00:00.5Z", BAD, "in UTC" },
  { "timestamp", "2026-02-30T09:00:00Z", BAD, "in UTC" },
  { "timestamp", "2026-11-30", BAD, "in UTC" },
  { "timestamp", "1700000000", BAD, "in UTC" },
  { "duration", "90s", NULL, NULL },
  { "duration", "90min", NULL, NULL },
  { "duration", "36h", NULL, NULL },
  { "duration", "30d", NULL, NULL },
  { "duration", "60min", NOT, "\"1h\"" },
  { "duration", "120s", NOT, "\"2min\"" },
  { "duration", "24h", NOT, "\"1d\"" },
  { "duration", "1h30min", BAD, "one number" },
  { "duration", "0s", BAD, "one number" },
  { "duration", "5", BAD, "one number" },
  { "duration", "1.5h", BAD, "one number" },
  { "duration", "5 min", BAD, "one number" },
  { "size", "0", NULL, NULL },
  { "size", "9223372036854775807", NULL, NULL },
  { "size", "010", NOT, "\"10\"" },
  { "size", "+10", NOT, "\"10\"" },
  { "size", "9223372036854775808", BAD, "number of bytes" },
  { "size", "-1", BAD, "number of bytes" },
  { "size", "10M", BAD, "number of bytes" },
  { "size", "1e3", BAD, "number of bytes" },
};

static void
assert_refused (const GError *error, const char *reason, const char *text, const char *about)
{
  if (!us_error_has_reason (error, reason) || (text != NULL && strstr (error->message, text) == NULL))
    g_error ("%s: expected %s with \"%s\", got: %s", about, reason, text != NULL ? text : "",
             error != NULL ? error->message : "accepted");
  g_assert_true (g_error_matches (error, US_ERROR, US_ERROR_INVALID_ARGUMENT));
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
}

static void
test_strings (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (strings); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (JsonTree) value = json_tree_new_string (strings[i].value);
      g_autoptr (JsonTree) before = json_tree_copy (value);
      g_autofree char *about = g_strdup_printf ("%s %s", strings[i].type, strings[i].value);
      gboolean ok = type_check (type_find (strings[i].type), "arg", value, &error);

      g_assert_true (ok == (error == NULL));
      g_assert_true (json_tree_equal (value, before));
      if (strings[i].reason != NULL)
        {
          assert_refused (error, strings[i].reason, strings[i].text, about);
          g_assert_nonnull (strstr (error->message, ": arg: "));
        }
      else if (error != NULL)
        g_error ("%s: %s", about, error->message);
    }
}

/* The canonical spelling that an error names is accepted: an agent can simply use it. */
static void
test_named_spelling_is_accepted (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (strings); i++)
    {
      g_autoptr (JsonTree) value = NULL;
      g_autofree char *named = NULL;

      if (g_strcmp0 (strings[i].reason, NOT) != 0)
        continue;
      named = g_strndup (strings[i].text + 1, strlen (strings[i].text) - 2);
      value = json_tree_new_string (named);
      g_assert_true (type_check (type_find (strings[i].type), "arg", value, NULL));
    }
}

/* Values of every shape, as JSON. */
static const struct
{
  const char *type;
  const char *json;
  const char *reason;
  const char *text;
} shapes[] = {
  { "boolean", "true", NULL, NULL },
  { "boolean", "false", NULL, NULL },
  { "boolean", "\"true\"", US_REASON_WRONG_TYPE, "a boolean" },
  { "boolean", "1", US_REASON_WRONG_TYPE, "a boolean" },
  { "boolean", "null", US_REASON_WRONG_TYPE, "a boolean" },
  { "line", "true", US_REASON_WRONG_TYPE, "a string" },
  { "line", "5", US_REASON_WRONG_TYPE, "a string" },
  { "line", "null", US_REASON_WRONG_TYPE, "a string" },
  { "line", "[]", US_REASON_WRONG_TYPE, "a string" },
  { "integer", "5", US_REASON_WRONG_TYPE, "a string" },
  { "email-list", "[]", NULL, NULL },
  { "email-list", "[\"a@x.org\",\"b@x.org\"]", NULL, NULL },
  { "email-list", "\"a@x.org\"", US_REASON_WRONG_TYPE, "an array of strings" },
  { "email-list", "{\"a\":\"b\"}", US_REASON_WRONG_TYPE, "an array of strings" },
  { "email-list", "[[\"a@x.org\"]]", US_REASON_WRONG_TYPE, "item 1: it must be a string" },
  { "email-list", "[\"a@x.org\",\"\"]", BAD, "item 2: it is empty" },
  { "email-list", "[\"a@x.org\",\"A@x.org\"]", BAD, "item 2: the address is there twice" },
  { "email-list", "[\"a@x.org\",\"b@X.org\"]", NOT, "item 2: the canonical spelling is \"b@x.org\"" },
  { "email-list", "[\"a@x.org, b@x.org\"]", BAD, "item 1" },
  { "line-list", "[\"a\",\"a\",\"b c\"]", NULL, NULL },
  { "line-list", "[\"\"]", BAD, "item 1: it is empty" },
  { "line-list", "[\"a\\nb\"]", BAD, "item 1: U+000A" },
  { "argv", "[\"ls\",\"\",\" a \",\"x\\ny\",\"--\",\"\\u001b\"]", NULL, NULL },
  { "argv", "[true]", US_REASON_WRONG_TYPE, "item 1: it must be a string" },
  { "file", "{\"name\":\"a.pdf\",\"size\":\"0\",\"sha256\":\"@\"}", NULL, NULL },
  { "file", "{\"name\":\"a.pdf\",\"size\":\"26214400\",\"sha256\":\"@\"}", NULL, NULL },
  { "file", "{\"name\":\"a.pdf\",\"size\":\"26214401\",\"sha256\":\"@\"}", US_REASON_TOO_LARGE, "larger" },
  { "file", "{\"name\":\"a.pdf\",\"size\":5,\"sha256\":\"@\"}", US_REASON_WRONG_TYPE, "a file" },
  { "file", "{\"name\":\"a.pdf\",\"size\":\"\",\"sha256\":\"@\"}", BAD, "no size" },
  { "file", "{\"name\":\"a.pdf\",\"size\":\"05\",\"sha256\":\"@\"}", BAD, "not a size" },
  { "file", "{\"name\":\"\",\"size\":\"5\",\"sha256\":\"@\"}", BAD, "no name" },
  { "file", "{\"name\":\"a.pdf\",\"size\":\"5\",\"sha256\":\"AB\"}", BAD, "sha256" },
  { "file", "{\"name\":\"a.pdf\",\"size\":\"5\"}", US_REASON_WRONG_TYPE, "a file" },
  { "file", "{\"name\":\"a\",\"size\":\"5\",\"sha256\":\"@\",\"x\":\"\"}", US_REASON_WRONG_TYPE, "a file" },
  { "file", "\"a.pdf\"", US_REASON_WRONG_TYPE, "a file" },
  { "file", "{\"name\":\"../a\",\"size\":\"5\",\"sha256\":\"@\"}", BAD, "not a file name" },
  { "file", "{\"name\":\"..\",\"size\":\"5\",\"sha256\":\"@\"}", BAD, "not a file name" },
  { "file", "{\"name\":\"report\\u202efdp.exe\",\"size\":\"5\",\"sha256\":\"@\"}", BAD, "U+202E" },
  { "file", "{\"name\":\"A\\u030a\",\"size\":\"5\",\"sha256\":\"@\"}", NOT, "\"\303\205\"" },
  { "file-list", "[]", NULL, NULL },
  { "file-list",
    "[{\"name\":\"a\",\"size\":\"5\",\"sha256\":\"@\"},{\"name\":\"a\",\"size\":\"6\",\"sha256\":\"@\"}]",
    BAD, "item 2: the file name is there twice" },
  { "file-list", "[\"a\"]", US_REASON_WRONG_TYPE, "item 1" },
  { "file-list", "{}", US_REASON_WRONG_TYPE, "an array of files" },
};

static JsonTree *
parse (const char *text)
{
  static const JsonLimits limits = { 1024 * 1024, 8, 128 * 1024, 2000 };
  g_autoptr (GString) whole = g_string_new (text);
  g_autoptr (GError) error = NULL;
  JsonTree *tree;

  g_string_replace (whole, "@", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", 0);
  if (strchr (text, '@') != NULL && strstr (text, "sha256") == NULL)
    g_string_assign (whole, text);
  tree = json_tree_parse (whole->str, whole->len, &limits, &error);
  g_assert_no_error (error);
  return tree;
}

static void
test_shapes (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (JsonTree) value = parse (shapes[i].json);

      type_check (type_find (shapes[i].type), "arg", value, &error);
      if (shapes[i].reason != NULL)
        assert_refused (error, shapes[i].reason, shapes[i].text, shapes[i].json);
      else
        g_assert_no_error (error);
    }
  g_assert_false (type_check (type_find ("line"), "arg", NULL, NULL));
  g_assert_false (type_check (type_find ("file"), "arg", NULL, NULL));
}

static void
test_limits (void)
{
  g_autofree char *longest = g_strnfill (RECORD_MAX_STRING, 'a');
  g_autofree char *longer = g_strnfill (RECORD_MAX_STRING + 1, 'a');
  g_autoptr (JsonTree) fits = json_tree_new_string (longest);
  g_autoptr (JsonTree) over = json_tree_new_string (longer);
  g_autoptr (JsonTree) items = json_tree_new_array ();
  g_autoptr (JsonTree) files = json_tree_new_array ();
  g_autoptr (GError) error = NULL;

  g_assert_true (type_check (type_find ("text"), "body", fits, NULL));
  g_assert_false (type_check (type_find ("text"), "body", over, &error));
  assert_refused (error, US_REASON_TOO_LARGE, "body: longer than 65536 bytes", "text");
  g_clear_error (&error);

  for (guint i = 0; i < RECORD_MAX_ITEMS; i++)
    json_tree_append_string (items, "x");
  g_assert_true (type_check (type_find ("argv"), "list", items, NULL));
  json_tree_append_string (items, "x");
  g_assert_false (type_check (type_find ("argv"), "list", items, &error));
  assert_refused (error, US_REASON_TOO_LARGE, "list: more than 1000 items", "argv");
  g_clear_error (&error);

  for (guint i = 0; i <= RECORD_MAX_FILES; i++)
    {
      g_autofree char *file = g_strdup_printf ("{\"name\":\"%u\",\"size\":\"1\",\"sha256\":\"@\"}", i);

      if (i == RECORD_MAX_FILES)
        g_assert_true (type_check (type_find ("file-list"), "files", files, NULL));
      json_tree_append (files, parse (file));
    }
  g_assert_false (type_check (type_find ("file-list"), "files", files, &error));
  assert_refused (error, US_REASON_TOO_LARGE, "files: more than 16 items", "file-list");
}

static void
test_table (void)
{
  static const char *const names[] = { "line",     "text",      "boolean",  "integer",   "decimal",
                                       "money",    "account",   "email",    "email-list", "hostname",
                                       "hostport", "url",       "path",     "choice",    "timestamp",
                                       "duration", "size",      "file",     "file-list", "line-list",
                                       "argv" };
  guint n = 0;

  for (const Type *type = type_at (n); type != NULL; type = type_at (++n))
    {
      g_autoptr (JsonTree) empty = type_empty (type);
      g_autoptr (JsonTree) schema = type_schema (type);
      g_autoptr (GBytes) bytes = json_tree_write (schema);

      g_assert_cmpstr (type_name (type), ==, names[n]);
      g_assert_true (type_find (names[n]) == type);
      g_assert_true (g_variant_type_string_is_valid (type_signature (type)));
      g_assert_nonnull (bytes);
      g_assert_nonnull (json_tree_get_string (schema, "type"));
      if (empty == NULL)
        g_assert_cmpint (type_wire (type), ==, TYPE_WIRE_FILE);
      else
        {
          g_assert_true (type_check (type, "arg", empty, NULL));
          g_assert_true (type_is_empty (type, empty) == (type_wire (type) != TYPE_WIRE_BOOLEAN));
        }
      g_assert_false (type_is_empty (type, NULL));
    }
  g_assert_cmpuint (n, ==, G_N_ELEMENTS (names));
  g_assert_null (type_find ("Line"));
  g_assert_null (type_find (""));
}

/* A value that the type accepts matches the schema that agents are given. */
static void
test_schema_accepts_values (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (strings); i++)
    {
      const Type *type = type_find (strings[i].type);
      g_autoptr (JsonTree) schema = type_schema (type);
      const char *pattern = json_tree_get_string (schema, "pattern");

      if (strings[i].reason == NULL && strings[i].value[0] != '\0' && pattern != NULL)
        g_assert_true (g_regex_match_simple (pattern, strings[i].value, 0, 0));
    }
}

static const struct
{
  const char *type, *a, *b;
  int order; /* 9: cannot be compared */
} compared[] = {
  { "integer", "5", "5", 0 },
  { "integer", "5", "10", -1 },
  { "integer", "-5", "-10", 1 },
  { "integer", "-5", "5", -1 },
  { "integer", "0", "-1", 1 },
  { "integer", "18446744073709551616", "18446744073709551615", 1 },
  { "integer", "5", "", 9 },
  { "integer", "5", "05", 9 },
  { "decimal", "1.5", "1.25", 1 },
  { "decimal", "1.5", "1.55", -1 },
  { "decimal", "1", "1.01", -1 },
  { "decimal", "-1", "-1.01", 1 },
  { "decimal", "9.9", "10", -1 },
  { "money", "9.50 EUR", "10.00 EUR", -1 },
  { "money", "10.00 EUR", "10.00 EUR", 0 },
  { "money", "10.00 EUR", "1.00 USD", 9 },
  { "size", "100", "99", 1 },
  { "duration", "90s", "1min", 1 },
  { "duration", "1d", "23h", 1 },
  { "timestamp", "2026-11-30T09:00:00Z", "2026-11-30T09:00:01Z", -1 },
  { "timestamp", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z", -1 },
  { "line", "a", "b", 9 },
  { "email", "a@x.org", "b@x.org", 9 },
  { "boolean", "true", "false", 9 },
};

static void
test_compare (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (compared); i++)
    {
      const Type *type = type_find (compared[i].type);
      int order = 9, reverse = 9;

      g_assert_true (type_compare (type, compared[i].a, compared[i].b, &order) ==
                     (compared[i].order != 9));
      type_compare (type, compared[i].b, compared[i].a, &reverse);
      g_assert_cmpint (order, ==, compared[i].order);
      g_assert_cmpint (reverse, ==, order == 9 ? 9 : -order);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/type/strings", test_strings);
  g_test_add_func ("/type/named-spelling-is-accepted", test_named_spelling_is_accepted);
  g_test_add_func ("/type/shapes", test_shapes);
  g_test_add_func ("/type/limits", test_limits);
  g_test_add_func ("/type/table", test_table);
  g_test_add_func ("/type/schema-accepts-values", test_schema_accepts_values);
  g_test_add_func ("/type/compare", test_compare);
  return g_test_run ();
}
