/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Types whose values are quantities: integer, decimal, money, size, duration, timestamp.  They stay
 * text from end to end, so that no language can round one; only the type table calls these.
 */
#include "service/base/clock.h"
#include "service/record/type-private.h"

#include <string.h>

#define MAX_DIGITS 38
#define TIMESTAMP_LOCAL_SIZE 19 /* of YYYY-MM-DDTHH:MM:SS */

/* Where the digits of an unsigned number end. */
static const char *
skip_digits (const char *c)
{
  while (g_ascii_isdigit (*c))
    c++;
  return c;
}

/*
 * A number of the form -?INT(.FRACTION)?: NULL, or what is wrong.  INT has no leading zero; there
 * is no minus before a value of zero.  Whether the fraction may be there is the caller's question.
 */
static const char *
number_fault (const char *value, const char *end, const char **out_fraction)
{
  const char *integer = value[0] == '-' ? value + 1 : value;
  const char *c = skip_digits (integer);
  gsize digits = (gsize) (c - integer);

  *out_fraction = NULL;
  if (digits == 0)
    return "it does not start with a digit";
  if (integer[0] == '0' && digits > 1)
    return "it has a leading zero";
  if (c < end && *c == '.')
    {
      *out_fraction = c + 1;
      c = skip_digits (c + 1);
      if (c == *out_fraction)
        return "no digit follows the point";
      digits += (gsize) (c - *out_fraction);
    }
  if (c != end)
    return "it holds more than digits 0 to 9";
  if (digits > MAX_DIGITS)
    return "it has more than 38 digits";
  if (value[0] == '-' && strspn (integer, "0.") >= (gsize) (end - integer))
    return "zero has no sign";
  return NULL;
}

char *
fault_integer (const char *value)
{
  const char *fraction;
  const char *fault = number_fault (value, value + strlen (value), &fraction);

  if (fault == NULL && fraction != NULL)
    fault = "it has a fraction";
  return fault != NULL ? g_strdup_printf ("not an integer: %s", fault) : NULL;
}

char *
fault_decimal (const char *value)
{
  gsize len = strlen (value);
  const char *fraction;
  const char *fault = number_fault (value, value + len, &fraction);

  if (fault == NULL && fraction != NULL && value[len - 1] == '0')
    fault = "its fraction ends in zero";
  return fault != NULL ? g_strdup_printf ("not a decimal number: %s", fault) : NULL;
}

char *
fault_money (const char *value)
{
  const char *space = strchr (value, ' ');
  const char *fraction;
  const char *fault;
  int digits;

  if (space == NULL)
    return g_strdup ("not an amount of money: it is written AMOUNT CODE, for example 12.50 EUR");
  digits = currency_digits (space + 1);
  if (digits < 0)
    return g_strdup ("not an amount of money: the code is not a currency of ISO 4217");

  fault = number_fault (value, space, &fraction);
  if (fault != NULL)
    return g_strdup_printf ("not an amount of money: %s", fault);
  if ((fraction != NULL ? space - fraction : 0) != digits)
    return g_strdup_printf ("not an amount of money: %s has %d digits after the point", space + 1,
                            digits);
  return NULL;
}

char *
fault_size (const char *value)
{
  guint64 size;

  if (!g_ascii_string_to_unsigned (value, 10, 0, G_MAXINT64, &size, NULL) ||
      (value[0] == '0' && value[1] != '\0'))
    return g_strdup ("not a size: it is a number of bytes in decimal digits, without unit");
  return NULL;
}

char *
fault_timestamp (const char *value)
{
  gint64 wall;

  if (!clock_parse (value, &wall))
    return g_strdup ("not a timestamp: it is written in UTC, for example 2026-11-30T09:00:00Z");
  return NULL;
}

char *
fault_duration (const char *value)
{
  g_autofree char *canonical = respell_duration (value);

  if (g_strcmp0 (canonical, value) != 0)
    return g_strdup ("not a duration: it is one number and the largest of the units d, h, min and "
                     "s that gives a whole number, for example 90min");
  return NULL;
}

/* Sign, digits and fraction without what does not change the value; NULL where there is no digit,
 * or more than one sign. */
static char *
respell_number (const char *value, gboolean trim_fraction)
{
  gboolean minus = value[0] == '-';
  const char *c = minus || value[0] == '+' ? value + 1 : value;
  GString *out;
  gsize end;

  if (!g_ascii_isdigit (c[c[0] == '.' ? 1 : 0]))
    return NULL;
  out = g_string_new (NULL);
  while (*c == '0' && g_ascii_isdigit (c[1]))
    c++;
  if (*c == '.')
    g_string_append_c (out, '0');
  g_string_append (out, c);

  if (trim_fraction && strchr (out->str, '.') != NULL)
    {
      for (end = out->len; out->str[end - 1] == '0'; end--)
        ;
      g_string_truncate (out, out->str[end - 1] == '.' ? end - 1 : end);
    }
  if (minus && strspn (out->str, "0.") != out->len)
    g_string_prepend_c (out, '-');
  return g_string_free (out, FALSE);
}

char *
respell_integer (const char *value)
{
  return respell_number (value, FALSE);
}

char *
respell_decimal (const char *value)
{
  return respell_number (value, TRUE);
}

char *
respell_size (const char *value)
{
  return value[0] == '-' ? NULL : respell_number (value, FALSE);
}

char *
respell_money (const char *value)
{
  g_auto (GStrv) words = g_strsplit (value, " ", 3);
  g_autofree char *code = NULL;
  g_autofree char *amount = NULL;
  const char *point;
  GString *out;
  int digits;

  if (g_strv_length (words) != 2)
    return NULL;
  code = g_ascii_strup (g_ascii_isalpha (words[0][0]) ? words[0] : words[1], -1);
  amount = respell_number (g_ascii_isalpha (words[0][0]) ? words[1] : words[0], TRUE);
  digits = currency_digits (code);
  if (amount == NULL || digits < 0)
    return NULL;

  out = g_string_new (amount);
  point = strchr (amount, '.');
  if (point == NULL && digits > 0)
    g_string_append_c (out, '.');
  for (int i = point != NULL ? (int) strlen (point + 1) : 0; i < digits; i++)
    g_string_append_c (out, '0');
  g_string_append_printf (out, " %s", code);
  return g_string_free (out, FALSE);
}

/* Z or +HH:MM or -HH:MM, to the end, in seconds. */
static gboolean
offset_parse (const char *text, gint64 *out_seconds)
{
  static const char form[] = "+dd:dd";
  int hours, minutes;

  *out_seconds = 0;
  if (strcmp (text, "Z") == 0)
    return TRUE;
  if (strlen (text) != strlen (form) || (text[0] != '+' && text[0] != '-'))
    return FALSE;
  for (gsize i = 1; form[i] != '\0'; i++)
    if (form[i] == 'd' ? !g_ascii_isdigit (text[i]) : text[i] != form[i])
      return FALSE;
  hours = (text[1] - '0') * 10 + (text[2] - '0');
  minutes = (text[4] - '0') * 10 + (text[5] - '0');
  *out_seconds = (hours * 60 + minutes) * (text[0] == '-' ? -60 : 60);
  return hours < 24 && minutes < 60;
}

/* YYYY-MM-DDTHH:MM:SS, then a fraction of zeros or none, then the offset. */
char *
respell_timestamp (const char *value)
{
  g_autofree char *local = g_strdup_printf ("%.*sZ", TIMESTAMP_LOCAL_SIZE, value);
  const char *c = value + TIMESTAMP_LOCAL_SIZE;
  gint64 wall, offset;

  if (strlen (value) < TIMESTAMP_LOCAL_SIZE || !clock_parse (local, &wall))
    return NULL;
  if (*c == '.')
    {
      gsize zeros = strspn (c + 1, "0");

      if (zeros == 0)
        return NULL;
      c += 1 + zeros;
    }
  if (!offset_parse (c, &offset))
    return NULL;
  return clock_format (wall - offset);
}

char *
respell_duration (const char *value)
{
  static const struct
  {
    guint64 seconds;
    const char *unit;
  } units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" } };
  const char *number = value[0] == '+' ? value + 1 : value;
  guint64 seconds;

  if (!duration_parse (number + strspn (number, "0"), &seconds))
    return NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (units); i++)
    if (seconds % units[i].seconds == 0)
      return g_strdup_printf ("%" G_GUINT64_FORMAT "%s", seconds / units[i].seconds, units[i].unit);
  return NULL;
}

/* The order of two canonical numbers of the form -?INT(.FRACTION)?, each @len bytes long. */
static int
number_compare (const char *a, gsize a_len, const char *b, gsize b_len)
{
  gboolean negative = a[0] == '-';
  gsize a_digits, b_digits;
  int order;

  if (negative != (b[0] == '-'))
    return negative ? -1 : 1;
  if (negative)
    return number_compare (b + 1, b_len - 1, a + 1, a_len - 1);

  a_digits = (gsize) (skip_digits (a) - a);
  b_digits = (gsize) (skip_digits (b) - b);
  if (a_digits != b_digits)
    return a_digits < b_digits ? -1 : 1;
  order = memcmp (a, b, MIN (a_len, b_len));
  if (order != 0)
    return order < 0 ? -1 : 1;
  return (a_len > b_len) - (a_len < b_len);
}

static gboolean
seconds_of (const Type *type, const char *value, guint64 *out_seconds)
{
  gint64 wall;

  if (type->fault == fault_duration)
    return duration_parse (value, out_seconds);
  if (!clock_parse (value, &wall))
    return FALSE;
  /* moved so that years before 1970 come first */
  *out_seconds = (guint64) wall ^ (G_GUINT64_CONSTANT (1) << 63);
  return TRUE;
}

gboolean
type_compare (const Type *type, const char *a, const char *b, int *out_order)
{
  gsize a_len = strlen (a), b_len = strlen (b);
  guint64 a_seconds, b_seconds;

  if (type->wire != TYPE_WIRE_STRING || a_len == 0 || b_len == 0 ||
      !type_check_string (type, "", a, NULL) || !type_check_string (type, "", b, NULL))
    return FALSE;

  if (type->fault == fault_duration || type->fault == fault_timestamp)
    {
      if (!seconds_of (type, a, &a_seconds) || !seconds_of (type, b, &b_seconds))
        return FALSE;
      *out_order = (a_seconds > b_seconds) - (a_seconds < b_seconds);
      return TRUE;
    }
  if (type->fault == fault_money)
    {
      a_len = (gsize) (strchr (a, ' ') - a);
      b_len = (gsize) (strchr (b, ' ') - b);
      if (strcmp (a + a_len, b + b_len) != 0)
        return FALSE;
    }
  else if (type->fault != fault_integer && type->fault != fault_decimal &&
           type->fault != fault_size)
    return FALSE;

  *out_order = number_compare (a, a_len, b, b_len);
  return TRUE;
}
