/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finding and loading a module.  Only the worker calls this.  The descriptor that was checked is
 * the one that is loaded, so there is no second look at the path; the search path of dlopen(3),
 * the environment and the caller have no say in what is loaded.
 */
#include "service/runner/module.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/file.h"
#include "service/runner/runner.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>

#define MAX_NAME 32

struct Module
{
  void *handle;
};

gboolean
module_name_is_valid (const char *name)
{
  gsize len = strlen (name);

  return len >= 1 && len <= MAX_NAME && g_ascii_islower (name[0]) &&
         strspn (name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

static int
open_checked (const char *dir, const char *name, uid_t owner, GError **error)
{
  g_autofree char *file_name = g_strconcat (name, ".so", NULL);
  guint32 version = 0;
  autofd dir_fd = -1;
  autofd fd = -1;

  if (!module_name_is_valid (name))
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MODULE,
                    "this can be no name of a module");
      return -1;
    }

  dir_fd = dir_open_trusted (AT_FDCWD, dir, owner, error);
  if (dir_fd < 0)
    return -1;
  fd = file_open_trusted (dir_fd, file_name, owner, error);
  if (fd < 0 || !elf_read_version (fd, &version, error))
    return -1;
  if (version != US_SM_ABI_VERSION)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MODULE,
                    "the module is of version %u of the interface, not %d", version,
                    US_SM_ABI_VERSION);
      return -1;
    }
  return fd_steal (&fd);
}

Module *
module_open (const char *dir, const char *name, uid_t owner, GError **error)
{
  autofd fd = open_checked (dir, name, owner, error);
  g_autofree char *path = NULL;
  Module *module = NULL;
  void *handle = NULL;

  if (fd < 0)
    return NULL;

  path = g_strdup_printf ("/proc/self/fd/%d", fd);
  handle = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL)
    {
      us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MODULE,
                    "the module cannot be loaded: %s", dlerror ());
      return NULL;
    }

  module = g_new0 (Module, 1);
  module->handle = handle;
  return module;
}

void
module_free (Module *module)
{
  /* Never unloaded: the process ends with its one call. */
  g_free (module);
}

ModuleEntry
module_entry (const Module *module, const char *name)
{
  ModuleEntry entry = NULL;
  void *symbol = dlsym (module->handle, name);

  /* ISO C has no conversion from an object pointer to a function pointer. */
  G_STATIC_ASSERT (sizeof entry == sizeof symbol);
  memcpy (&entry, &symbol, sizeof entry);
  return entry;
}
