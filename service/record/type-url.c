/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The type url: an absolute URL with a host, spelled in the one normal form of RFC 3986 sections
 * 6.2.2 and 6.2.3.  There is no user information, which only ever hides the host.  Only the type
 * table calls this.
 */
#include "service/record/type-private.h"

#include <string.h>

#define URL_MAX 8192
#define UNRESERVED_MARKS "-._~"
#define SUB_DELIMS "!$&'()*+,;="

static const struct
{
  const char *scheme;
  guint port;
} default_ports[] = { { "http", 80 }, { "https", 443 }, { "ws", 80 }, { "wss", 443 } };

/* The parts of SCHEME://AUTHORITY REST, pointing into one copy. */
typedef struct
{
  char *copy;
  const char *scheme;
  const char *authority;
  const char *rest; /* path, query and fragment; a part of the original string */
} Url;

static void
url_clear (Url *url)
{
  g_free (url->copy);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Url, url_clear)

static gboolean
url_split (const char *value, Url *out_url)
{
  const char *colon = strstr (value, "://");
  gsize authority_len;

  if (colon == NULL)
    return FALSE;
  authority_len = strcspn (colon + 3, "/?#");
  out_url->rest = colon + 3 + authority_len;
  out_url->copy = g_strndup (value, (gsize) (out_url->rest - value));
  out_url->copy[colon - value] = '\0';
  out_url->scheme = out_url->copy;
  out_url->authority = out_url->copy + (colon - value) + 3;
  return TRUE;
}

static guint
default_port (const char *scheme)
{
  for (gsize i = 0; i < G_N_ELEMENTS (default_ports); i++)
    if (strcmp (default_ports[i].scheme, scheme) == 0)
      return default_ports[i].port;
  return 0;
}

static gboolean
is_unreserved (int c)
{
  return g_ascii_isalnum (c) || (c != '\0' && strchr (UNRESERVED_MARKS, c) != NULL);
}

/* What may stand unencoded in a path; query and fragment may have ? too. */
static gboolean
is_path_char (char c)
{
  return is_unreserved (c) || (c != '\0' && strchr (SUB_DELIMS ":@/", c) != NULL);
}

static gboolean
is_upper_xdigit (char c)
{
  return g_ascii_isdigit (c) || (c >= 'A' && c <= 'F');
}

static gboolean
scheme_is_valid (const char *scheme)
{
  if (!g_ascii_islower (scheme[0]))
    return FALSE;
  for (const char *c = scheme; *c != '\0'; c++)
    if (!g_ascii_islower (*c) && !g_ascii_isdigit (*c) && strchr ("+-.", *c) == NULL)
      return FALSE;
  return TRUE;
}

/* One part: a path (@more is "") or a query or fragment (@more is "?"). */
static const char *
part_fault (const char *c, gsize len, const char *more)
{
  for (gsize i = 0; i < len; i++)
    {
      if (c[i] == '%')
        {
          if (len - i < 3 || !is_upper_xdigit (c[i + 1]) || !is_upper_xdigit (c[i + 2]))
            return "a % is followed by two upper-case hexadecimal digits";
          if (is_unreserved (g_ascii_xdigit_value (c[i + 1]) * 16 +
                             g_ascii_xdigit_value (c[i + 2])))
            return "a letter, digit or -._~ is not percent-encoded";
          i += 2;
        }
      else if (!is_path_char (c[i]) && strchr (more, c[i]) == NULL)
        return "a character that a URL does not have is percent-encoded";
    }
  return NULL;
}

static gboolean
path_has_dots (const char *path, gsize len)
{
  g_autofree char *copy = g_strndup (path, len);
  g_auto (GStrv) segments = g_strsplit (copy, "/", -1);

  for (guint i = 0; segments[i] != NULL; i++)
    if (strcmp (segments[i], ".") == 0 || strcmp (segments[i], "..") == 0)
      return TRUE;
  return FALSE;
}

static const char *
rest_fault (const char *rest)
{
  gsize path_len = strcspn (rest, "?#");
  const char *c = rest + path_len;
  const char *fault;

  if (rest[0] != '/')
    return "a / follows the host";
  fault = part_fault (rest, path_len, "");
  if (fault == NULL && path_has_dots (rest, path_len))
    fault = "its path has no segment . or ..";

  for (guint i = 0; fault == NULL && *c != '\0' && i < 2; i++)
    {
      gsize len = strcspn (c + 1, *c == '?' ? "#" : "");

      fault = len == 0 ? "an empty query or fragment is left out" : part_fault (c + 1, len, "?");
      c += 1 + len;
    }
  return fault;
}

char *
fault_url (const char *value)
{
  g_auto (Url) url = { 0 };
  g_autofree char *host_fault = NULL;
  const char *fault;
  guint port = 0;

  if (strlen (value) > URL_MAX)
    return g_strdup_printf ("not a URL: it is longer than %d bytes", URL_MAX);
  if (!url_split (value, &url) || !scheme_is_valid (url.scheme))
    return g_strdup ("not a URL: it is SCHEME://HOST/…, with the scheme in lower case");
  if (strchr (url.authority, '@') != NULL)
    return g_strdup ("not a URL: it has no user name or password before the host");
  host_fault = fault_authority (url.authority, &port);
  if (host_fault != NULL)
    return g_strdup_printf ("not a URL: %s", host_fault);
  if (port != 0 && port == default_port (url.scheme))
    return g_strdup ("not a URL: the usual port of its scheme is left out");

  fault = rest_fault (url.rest);
  return fault != NULL ? g_strdup_printf ("not a URL: %s", fault) : NULL;
}

/* Percent-encodes what must be, decodes what need not be, and writes digits in upper case. */
static void
append_normalized (GString *out, const char *rest)
{
  for (const char *c = rest; *c != '\0'; c++)
    {
      int high = c[0] == '%' ? g_ascii_xdigit_value (c[1]) : -1;
      int low = high >= 0 ? g_ascii_xdigit_value (c[2]) : -1;

      if (low >= 0 && is_unreserved (high * 16 + low))
        g_string_append_c (out, (char) (high * 16 + low));
      else if (low >= 0)
        g_string_append_printf (out, "%%%02X", (guint) (high * 16 + low));
      else if (is_path_char (*c) || strchr ("?#", *c) != NULL)
        g_string_append_c (out, *c);
      else
        g_string_append_printf (out, "%%%02X", (guint) (guchar) *c);
      if (low >= 0)
        c += 2;
    }
}

char *
respell_url (const char *value)
{
  g_auto (Url) url = { 0 };
  g_autofree char *scheme = NULL;
  g_autofree char *authority = NULL;
  g_autofree char *usual = NULL;
  guint port;
  GString *out;

  if (strlen (value) > URL_MAX || !url_split (value, &url))
    return NULL;
  scheme = g_ascii_strdown (url.scheme, -1);
  authority = respell_authority (url.authority);
  if (authority == NULL)
    return NULL;
  port = default_port (scheme);
  usual = g_strdup_printf (":%u", port);
  if (port != 0 && g_str_has_suffix (authority, usual))
    authority[strlen (authority) - strlen (usual)] = '\0';

  out = g_string_new (scheme);
  g_string_append_printf (out, "://%s", authority);
  if (url.rest[0] != '/')
    g_string_append_c (out, '/');
  append_normalized (out, url.rest);
  return g_string_free (out, FALSE);
}
