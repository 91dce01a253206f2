/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The only readers of a clock and the only spellings of time.  Every layer may call them.  Nothing
 * is ever decided by wall time.
 */
#include "service/base/clock.h"

#include <string.h>
#include <time.h>

#define JULIAN_EPOCH 719163 /* 1970-01-01, as GDate counts days */

static struct timespec
clock_read (clockid_t id)
{
  struct timespec now;

  if (clock_gettime (id, &now) != 0)
    g_error ("the system has no clock %d", (int) id);
  return now;
}

guint64
clock_boottime (void)
{
  struct timespec now = clock_read (CLOCK_BOOTTIME);

  return (guint64) now.tv_sec * G_USEC_PER_SEC + (guint64) now.tv_nsec / 1000;
}

gint64
clock_wall (void)
{
  return clock_read (CLOCK_REALTIME).tv_sec;
}

char *
clock_format (gint64 wall)
{
  g_autoptr (GDateTime) when = g_date_time_new_from_unix_utc (wall);

  if (when == NULL)
    return NULL;
  return g_strdup_printf ("%04d-%02d-%02dT%02d:%02d:%02dZ", g_date_time_get_year (when),
                          g_date_time_get_month (when), g_date_time_get_day_of_month (when),
                          g_date_time_get_hour (when), g_date_time_get_minute (when),
                          g_date_time_get_second (when));
}

static int
two_digits (const char *text)
{
  return (text[0] - '0') * 10 + (text[1] - '0');
}

gboolean
clock_parse (const char *text, gint64 *out_wall)
{
  static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
  int year, month, day, hour, minute, second;
  gint64 days = 0;
  GDate date;

  if (strlen (text) != strlen (form))
    return FALSE;
  for (gsize i = 0; form[i] != '\0'; i++)
    if (form[i] == 'd' ? !g_ascii_isdigit (text[i]) : text[i] != form[i])
      return FALSE;

  year = two_digits (text) * 100 + two_digits (text + 2);
  month = two_digits (text + 5);
  day = two_digits (text + 8);
  hour = two_digits (text + 11);
  minute = two_digits (text + 14);
  second = two_digits (text + 17);
  if (!g_date_valid_dmy ((GDateDay) day, (GDateMonth) month, (GDateYear) year) || hour > 23 ||
      minute > 59 || second > 59)
    return FALSE;

  g_date_clear (&date, 1);
  g_date_set_dmy (&date, (GDateDay) day, (GDateMonth) month, (GDateYear) year);
  days = (gint64) g_date_get_julian (&date) - JULIAN_EPOCH;
  *out_wall = ((days * 24 + hour) * 60 + minute) * 60 + second;
  return TRUE;
}

gboolean
duration_parse (const char *text, guint64 *out_seconds)
{
  static const struct
  {
    const char *unit;
    guint64 seconds;
  } units[] = { { "s", 1 }, { "min", 60 }, { "h", 3600 }, { "d", 86400 } };
  guint64 number = 0, seconds;
  const char *c = text;

  if (*c < '1' || *c > '9')
    return FALSE;
  for (; g_ascii_isdigit (*c); c++)
    if (!g_uint64_checked_mul (&number, number, 10) ||
        !g_uint64_checked_add (&number, number, (guint64) (*c - '0')))
      return FALSE;

  for (gsize i = 0; i < G_N_ELEMENTS (units); i++)
    if (strcmp (c, units[i].unit) == 0 &&
        g_uint64_checked_mul (&seconds, number, units[i].seconds))
      {
        *out_seconds = seconds;
        return TRUE;
      }
  return FALSE;
}
