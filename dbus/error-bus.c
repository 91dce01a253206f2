/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Carries the error domain over GDBus.  Programs on a bus link it; the executor and the runner have
 * no bus and don't.  It never lets a foreign error pass for a refusal of the service.
 */
#include "dbus/error-bus.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <gio/gio.h>

void
us_error_register_bus (void)
{
  static gsize once = 0;

  if (!g_once_init_enter (&once))
    return;
  for (guint i = 0; i < US_ERROR_N; i++)
    {
      g_autofree char *name = g_strconcat (US_ERROR_PREFIX, us_error_name ((UsError) i), NULL);

      if (!g_dbus_error_register_error (US_ERROR, (int) i, name))
        g_error ("%s is registered for something else", name);
    }
  g_once_init_leave (&once, 1);
}

gboolean
us_error_propagate_bus (GError **error, GError *bus_error)
{
  g_autoptr (GError) own = bus_error;

  if (g_error_matches (own, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, g_steal_pointer (&own));
      return FALSE;
    }
  g_dbus_error_strip_remote_error (own);
  if (own->domain != US_ERROR)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE, "%s", own->message);
  g_propagate_error (error, g_steal_pointer (&own));
  return FALSE;
}
