/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which version of the interface a module was built for, read from the file without loading it: a
 * shared object that dlopen(3) maps has already run its constructors when one could look.
 */
#include "service/runner/module.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <gelf.h>
#include <string.h>

#define SYMBOL "us_sm_abi_version"

#if GLIB_SIZEOF_VOID_P == 8
#  define NATIVE_CLASS ELFCLASS64
#else
#  define NATIVE_CLASS ELFCLASS32
#endif
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#  define NATIVE_DATA ELFDATA2LSB
#else
#  define NATIVE_DATA ELFDATA2MSB
#endif

static void
elf_free (Elf *elf)
{
  elf_end (elf);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Elf, elf_free)

static gboolean
refuse (GError **error, const char *why)
{
  return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_BAD_MODULE, "the module %s", why);
}

/* section_find: the first section of @type. */
static Elf_Scn *
section_find (Elf *elf, GElf_Word type, GElf_Shdr *out_header)
{
  Elf_Scn *section = NULL;

  while ((section = elf_nextscn (elf, section)) != NULL)
    if (gelf_getshdr (section, out_header) != NULL && out_header->sh_type == type)
      return section;
  return NULL;
}

static gboolean
symbol_is_version (const GElf_Sym *symbol)
{
  return GELF_ST_TYPE (symbol->st_info) == STT_OBJECT &&
         GELF_ST_BIND (symbol->st_info) == STB_GLOBAL &&
         GELF_ST_VISIBILITY (symbol->st_other) == STV_DEFAULT &&
         symbol->st_size == sizeof (guint32);
}

/* symbol_find: FALSE unless the dynamic symbols have exactly one of our name, of the right kind. */
static gboolean
symbol_find (Elf *elf, GElf_Sym *out_symbol)
{
  GElf_Shdr header;
  Elf_Scn *section = section_find (elf, SHT_DYNSYM, &header);
  Elf_Data *data = section != NULL ? elf_getdata (section, NULL) : NULL;
  guint found = 0;

  if (data == NULL || header.sh_entsize == 0)
    return FALSE;

  for (gsize i = 0; i < header.sh_size / header.sh_entsize && i < G_MAXINT; i++)
    {
      GElf_Sym symbol;
      const char *name = NULL;

      if (gelf_getsym (data, (int) i, &symbol) == NULL)
        return FALSE;
      name = elf_strptr (elf, header.sh_link, symbol.st_name);
      if (name == NULL || strcmp (name, SYMBOL) != 0)
        continue;
      if (!symbol_is_version (&symbol))
        return FALSE;
      *out_symbol = symbol;
      found++;
    }
  return found == 1;
}

/* symbol_read: the number that the symbol stands for, from the section that it is in. */
static gboolean
symbol_read (Elf *elf, const GElf_Sym *symbol, guint32 *out_value)
{
  Elf_Scn *section = elf_getscn (elf, symbol->st_shndx);
  GElf_Shdr header;
  Elf_Data *data = NULL;
  GElf_Addr offset = 0;

  if (section == NULL || gelf_getshdr (section, &header) == NULL ||
      header.sh_type != SHT_PROGBITS || symbol->st_value < header.sh_addr)
    return FALSE;

  data = elf_rawdata (section, NULL);
  offset = symbol->st_value - header.sh_addr;
  if (data == NULL || data->d_buf == NULL || data->d_size < sizeof *out_value ||
      offset > data->d_size - sizeof *out_value)
    return FALSE;

  memcpy (out_value, (const guint8 *) data->d_buf + offset, sizeof *out_value);
  return TRUE;
}

gboolean
elf_read_version (int fd, guint32 *out_version, GError **error)
{
  g_autoptr (Elf) elf = NULL;
  GElf_Ehdr header;
  GElf_Sym symbol = { 0 };
  guint32 value = 0;

  if (elf_version (EV_CURRENT) == EV_NONE)
    return refuse (error, "cannot be read by this libelf");

  elf = elf_begin (fd, ELF_C_READ, NULL);
  if (elf == NULL || elf_kind (elf) != ELF_K_ELF || gelf_getehdr (elf, &header) == NULL)
    return refuse (error, "is not an ELF file");
  if (header.e_ident[EI_CLASS] != NATIVE_CLASS || header.e_ident[EI_DATA] != NATIVE_DATA ||
      header.e_type != ET_DYN)
    return refuse (error, "is not a shared object for this machine");
  if (!symbol_find (elf, &symbol) || !symbol_read (elf, &symbol, &value))
    return refuse (error, "does not define " SYMBOL " as this interface asks");

  *out_version = value;
  return TRUE;
}
