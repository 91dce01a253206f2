/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A loaded module. */
#pragma once

#include "service/abi/undersign-module.h"

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

typedef struct Module Module;
typedef int (*ModuleEntry) (us_sm_handle *handle);

/*
 * module_open: checks DIR/NAME.so, then loads it.
 * @owner: the only user that may be able to write to the folder and the file
 *
 * Nothing of the file is mapped or run before it was found to be a regular file of @owner, not
 * writable by others, an ELF object for this machine, and of our version of the interface.
 * Returns: (transfer full) (nullable): NULL with reason untrusted-file or bad-module.
 */
Module *module_open (const char *dir, const char *name, uid_t owner, GError **error);
void module_free (Module *module);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Module, module_free)

/* module_entry: the entry point of that name; NULL where the module has none. */
ModuleEntry module_entry (const Module *module, const char *name);

/*
 * elf_read_version: the value of the symbol us_sm_abi_version, from the file alone.
 * Returns: FALSE with reason bad-module for anything but a shared object for this machine that
 *   defines it once, as a 32-bit number.
 */
gboolean elf_read_version (int fd, guint32 *out_version, GError **error);

G_END_DECLS
