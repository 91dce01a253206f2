/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sets the PIN of a security key, as its person does with a tool of the key's maker.
 * usage: key-tool DEVICE PIN
 */
#include <fido.h>
#include <stdio.h>

int
main (int argc, char **argv)
{
  fido_dev_t *device = NULL;
  int code;

  if (argc != 3)
    {
      fputs ("usage: key-tool DEVICE PIN\n", stderr);
      return 2;
    }
  fido_init (FIDO_DISABLE_U2F_FALLBACK);
  device = fido_dev_new ();
  code = fido_dev_open (device, argv[1]);
  if (code == FIDO_OK)
    code = fido_dev_set_pin (device, argv[2], NULL);
  if (code != FIDO_OK)
    fprintf (stderr, "key-tool: %s\n", fido_strerr (code));
  fido_dev_close (device);
  fido_dev_free (&device);
  return code == FIDO_OK ? 0 : 1;
}
