/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For test-security-key.py: libfido2's list of what is plugged in, read from the file that
 * UNDERSIGN_TEST_KEYS names, a path a line.  Preloaded, since a pseudo-terminal is in no list of HID
 * devices; what is found is then opened by the library's own code.
 */
#include <fido.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *
io_open (const char *path)
{
  return NULL;
}

static void
io_close (void *handle)
{
}

static int
io_read (void *handle, unsigned char *bytes, size_t len, int ms)
{
  return -1;
}

static int
io_write (void *handle, const unsigned char *bytes, size_t len)
{
  return -1;
}

int
fido_dev_info_manifest (fido_dev_info_t *list, size_t max, size_t *out_n)
{
  /* The list wants functions; the program opens by the path alone. */
  static const fido_dev_io_t io = { io_open, io_close, io_read, io_write };
  const char *name = getenv ("UNDERSIGN_TEST_KEYS");
  FILE *file = name != NULL ? fopen (name, "r") : NULL;
  char path[4096];
  int code = FIDO_OK;

  *out_n = 0;
  if (file == NULL)
    return FIDO_ERR_INTERNAL;
  while (code == FIDO_OK && *out_n < max && fgets (path, sizeof path, file) != NULL)
    {
      path[strcspn (path, "\n")] = '\0';
      code = fido_dev_info_set (list, *out_n, path, "Makers", "Listed key", &io, NULL);
      *out_n += code == FIDO_OK ? 1 : 0;
    }
  fclose (file);
  return code;
}
