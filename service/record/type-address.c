/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Types that name something on a network: hostname, hostport and email.  Domains are lower-case
 * ASCII (A-labels), so that what is shown is what is looked up.  Only the type table calls these;
 * nothing here may ask the network.
 */
#include "service/record/type-private.h"
#include "service/record/unicode.h"

#include <arpa/inet.h>
#include <string.h>

#define NAME_MAX_BYTES 253
#define LABEL_MAX 63
#define A_LABEL_PREFIX "xn--"
#define IDNA_MAX_BYTES 1024 /* a longer one has no A-labels that fit */
#define LOCAL_PART_MAX 64
#define EMAIL_MAX 254
#define PORT_MAX 65535

static gboolean
is_lower_alnum (char c)
{
  return g_ascii_islower (c) || g_ascii_isdigit (c);
}

static gboolean
label_is_valid (const char *label)
{
  gsize len = strlen (label);

  if (len == 0 || len > LABEL_MAX || label[0] == '-' || label[len - 1] == '-')
    return FALSE;
  for (gsize i = 0; i < len; i++)
    if (!is_lower_alnum (label[i]) && label[i] != '-')
      return FALSE;
  return TRUE;
}

/* Whether resolvers may take @label, the last of a name, for a number: then it is an address. */
static gboolean
label_is_number (const char *label)
{
  if (strspn (label, "0123456789") == strlen (label))
    return TRUE;
  return label[0] == '0' && label[1] == 'x' &&
         strspn (label + 2, "0123456789abcdef") == strlen (label + 2);
}

static char *
fault_domain (const char *value)
{
  g_auto (GStrv) labels = g_strsplit (value, ".", -1);
  guint n = g_strv_length (labels);

  if (strlen (value) > NAME_MAX_BYTES)
    return g_strdup_printf ("not a host name: it is longer than %d bytes", NAME_MAX_BYTES);
  for (guint i = 0; i < n; i++)
    if (!label_is_valid (labels[i]))
      return g_strdup ("not a host name: its labels are lower-case a-z, 0-9 and -, 1 to 63 bytes, "
                       "with no - at an end; other letters are written as an A-label (xn--)");
  if (n == 0 || label_is_number (labels[n - 1]))
    return g_strdup ("not a host name: its last label is a number");
  return NULL;
}

static gboolean
is_ipv4 (const char *value)
{
  struct in_addr address;
  char text[INET_ADDRSTRLEN];

  return inet_pton (AF_INET, value, &address) == 1 &&
         inet_ntop (AF_INET, &address, text, sizeof text) != NULL && strcmp (text, value) == 0;
}

/* Whether an IPv6 address names an IPv4 host: ::ffff:0:0/96, and ::/96 but for :: and ::1. */
static gboolean
embeds_ipv4 (const struct in6_addr *address)
{
  static const guint8 zeros[10] = { 0 };
  const guint8 *b = address->s6_addr;

  if (memcmp (b, zeros, sizeof zeros) != 0)
    return FALSE;
  if (b[10] == 0xff && b[11] == 0xff)
    return TRUE;
  return b[10] == 0 && b[11] == 0 && !(b[12] == 0 && b[13] == 0 && b[14] == 0 && b[15] <= 1);
}

/* Spelled as RFC 5952 has it. */
static char *
fault_ipv6 (const char *value)
{
  struct in6_addr address;
  char text[INET6_ADDRSTRLEN];

  if (inet_pton (AF_INET6, value, &address) != 1 ||
      inet_ntop (AF_INET6, &address, text, sizeof text) == NULL)
    return g_strdup ("not an IPv6 address");
  if (embeds_ipv4 (&address))
    return g_strdup ("an IPv6 address that embeds an IPv4 address is written as the latter");
  if (strcmp (text, value) != 0)
    return g_strdup ("not an IPv6 address in the form of RFC 5952");
  return NULL;
}

char *
fault_hostname (const char *value)
{
  if (strchr (value, ':') != NULL)
    return fault_ipv6 (value);
  if (is_ipv4 (value))
    return NULL;
  return fault_domain (value);
}

/*
 * Whether every version of IDNA gives @label the same A-label: letters, marks and decimal digits
 * that no mapping changes.  It leaves out the sharp s, the final sigma and the joiners, of which
 * older versions make another name.
 */
static gboolean
label_is_stable (const char *label)
{
  g_autofree char *composed = NULL;
  g_autofree char *folded = NULL;
  g_autofree char *again = NULL;

  if (g_str_is_ascii (label))
    return TRUE;
  if (g_str_has_prefix (label, A_LABEL_PREFIX) || label[0] == '-' ||
      g_str_has_suffix (label, "-") || (char_flags (g_utf8_get_char (label), NULL) & CHAR_MARK))
    return FALSE;
  for (const char *c = label; *c != '\0'; c = g_utf8_next_char (c))
    if (*c != '-' &&
        (!g_unichar_isdefined (g_utf8_get_char (c)) ||
         !(char_flags (g_utf8_get_char (c), NULL) & (CHAR_LETTER | CHAR_MARK | CHAR_DIGIT))))
      return FALSE;

  composed = g_utf8_normalize (label, -1, G_NORMALIZE_NFKC);
  folded = g_utf8_casefold (composed, -1);
  again = g_utf8_normalize (folded, -1, G_NORMALIZE_NFKC);
  return g_strcmp0 (again, label) == 0;
}

static char *
domain_to_ascii (const char *value)
{
  g_autofree char *lower = g_ascii_strdown (value, -1);
  g_auto (GStrv) labels = NULL;

  if (g_str_has_suffix (lower, "."))
    lower[strlen (lower) - 1] = '\0';
  if (g_str_is_ascii (lower))
    return g_steal_pointer (&lower);
  if (strlen (lower) > IDNA_MAX_BYTES)
    return NULL;
  labels = g_strsplit (lower, ".", -1);
  for (guint i = 0; labels[i] != NULL; i++)
    if (labels[i][0] == '\0' || !label_is_stable (labels[i]))
      return NULL;
  return g_hostname_to_ascii (lower);
}

char *
respell_hostname (const char *value)
{
  struct in6_addr address;
  char text[INET6_ADDRSTRLEN];

  if (inet_pton (AF_INET6, value, &address) == 1)
    return g_strdup (inet_ntop (AF_INET6, &address, text, sizeof text));
  return domain_to_ascii (value);
}

/* Splits HOST, HOST:PORT or [IPV6]:PORT; @out_port is NULL where there is none. */
static gboolean
authority_split (const char *value, char **out_host, const char **out_port)
{
  const char *end;

  *out_port = NULL;
  if (value[0] == '[')
    {
      end = strchr (value, ']');
      if (end == NULL || (end[1] != '\0' && end[1] != ':'))
        return FALSE;
      *out_host = g_strndup (value + 1, (gsize) (end - value - 1));
      *out_port = end[1] == ':' ? end + 2 : NULL;
      return strchr (*out_host, ':') != NULL;
    }

  end = strchr (value, ':');
  *out_host = end != NULL ? g_strndup (value, (gsize) (end - value)) : g_strdup (value);
  *out_port = end != NULL ? end + 1 : NULL;
  return TRUE;
}

char *
fault_authority (const char *value, guint *out_port)
{
  g_autofree char *host = NULL;
  const char *port;
  guint64 number = 0;

  if (!authority_split (value, &host, &port) || host[0] == '\0')
    return g_strdup ("it is HOST:PORT, with an IPv6 address in brackets");
  if (port != NULL &&
      (port[0] == '0' || !g_ascii_string_to_unsigned (port, 10, 1, PORT_MAX, &number, NULL)))
    return g_strdup ("the port is a number from 1 to 65535 without leading zero");
  *out_port = (guint) number;
  return fault_hostname (host);
}

char *
respell_authority (const char *value)
{
  g_autofree char *host = NULL;
  g_autofree char *ascii = NULL;
  const char *port;
  gboolean brackets;

  if (!authority_split (value, &host, &port))
    return NULL;
  ascii = respell_hostname (host);
  if (ascii == NULL)
    return NULL;
  while (port != NULL && port[0] == '0')
    port++;
  brackets = strchr (ascii, ':') != NULL;
  return g_strdup_printf ("%s%s%s%s%s", brackets ? "[" : "", ascii, brackets ? "]" : "",
                          port != NULL ? ":" : "", port != NULL ? port : "");
}

char *
fault_hostport (const char *value)
{
  guint port = 0;
  char *fault = fault_authority (value, &port);

  if (fault == NULL && port == 0)
    fault = g_strdup ("it is HOST:PORT: the port is missing");
  return fault;
}

char *
respell_hostport (const char *value)
{
  return respell_authority (value);
}

/* RFC 5321's Dot-string: no quoting, no comment, ASCII alone. */
static gboolean
local_part_is_valid (const char *local)
{
  gsize len = strlen (local);

  if (len == 0 || len > LOCAL_PART_MAX || local[0] == '.' || local[len - 1] == '.' ||
      strstr (local, "..") != NULL)
    return FALSE;
  for (gsize i = 0; i < len; i++)
    if (!g_ascii_isalnum (local[i]) && strchr (".!#$%&'*+-/=?^_`{|}~", local[i]) == NULL)
      return FALSE;
  return TRUE;
}

char *
fault_email (const char *value)
{
  g_autofree char *local = NULL;
  const char *at = strchr (value, '@');

  if (at == NULL || at != strrchr (value, '@'))
    return g_strdup ("not an e-mail address: it is LOCAL@DOMAIN, alone, without a display name");
  if (strlen (value) > EMAIL_MAX)
    return g_strdup_printf ("not an e-mail address: it is longer than %d bytes", EMAIL_MAX);
  local = g_strndup (value, (gsize) (at - value));
  if (!local_part_is_valid (local))
    return g_strdup ("not an e-mail address: before the @ are 1 to 64 ASCII letters, digits and "
                     "!#$%&'*+-/=?^_`{|}~, with single dots between them");
  return fault_domain (at + 1);
}

char *
respell_email (const char *value)
{
  g_autofree char *domain = NULL;
  const char *at = strchr (value, '@');

  if (at == NULL)
    return NULL;
  domain = respell_hostname (at + 1);
  if (domain == NULL)
    return NULL;
  return g_strdup_printf ("%.*s@%s", (int) (at - value), value, domain);
}
