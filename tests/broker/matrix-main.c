/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The matrix from the uid that this program runs under, on the system bus:
 *
 *   undersign-matrix FILE ROLE [REQUEST]
 *
 * prints each fault on a line and exits with 1 where there is one.
 */
#include "tests/broker/matrix.h"

int
main (int argc, char *argv[])
{
  g_autoptr (GDBusConnection) connection = NULL;
  g_autoptr (GPtrArray) faults = NULL;
  g_autoptr (GError) error = NULL;

  if (argc != 3 && argc != 4)
    {
      g_printerr ("usage: undersign-matrix FILE ROLE [REQUEST]\n");
      return 2;
    }
  connection = g_bus_get_sync (G_BUS_TYPE_SYSTEM, NULL, &error);
  if (connection == NULL)
    {
      g_printerr ("undersign-matrix: %s\n", error->message);
      return 2;
    }
  faults = matrix_check (connection, argv[1], argv[2], argv[3]);
  for (guint i = 0; i < faults->len; i++)
    g_print ("%s\n", (const char *) faults->pdata[i]);
  return faults->len > 0;
}
