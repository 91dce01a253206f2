/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * See scarce.h.  Under AddressSanitizer its own allocator serves what is not refused; who calls is told
 * by the object that the return address lies in.
 */
#include "tests/lib/scarce.h"

#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS_MAX 4

extern void *__libc_malloc (size_t size);
extern void *__libc_calloc (size_t n, size_t size);
extern void *__libc_realloc (void *memory, size_t size);
extern void *__interceptor_malloc (size_t size) __attribute__ ((weak));
extern void *__interceptor_calloc (size_t n, size_t size) __attribute__ ((weak));
extern void *__interceptor_realloc (void *memory, size_t size) __attribute__ ((weak));

typedef struct
{
  const char *const *names; /* of the objects */
  guint n;
  guintptr first[OBJECTS_MAX], last[OBJECTS_MAX];
} Objects;

static const char *const glib_names[] = { "/libglib-2.0.", "/libgobject-2.0.", "/libgio-2.0.", NULL };
static const char *const fido_names[] = { "/libfido2.", "/libcbor.", NULL };
static Objects glib = { .names = glib_names }, fido = { .names = fido_names };
static ScarceFor scarce_for;

static gboolean counting;
static guint64 seen, first_refused, last_refused;
static gboolean refused;

static gboolean
is_within (const Objects *objects, guintptr address)
{
  for (guint i = 0; i < objects->n; i++)
    if (address >= objects->first[i] && address < objects->last[i])
      return TRUE;
  return FALSE;
}

static gboolean
is_refused (void *caller)
{
  guint64 number = 0;

  if (!counting || (scarce_for == SCARCE_FOR_FIDO ? !is_within (&fido, (guintptr) caller)
                                                  : is_within (&glib, (guintptr) caller)))
    return FALSE;
  number = seen++;
  if (number < first_refused || number > last_refused)
    return FALSE;
  refused = TRUE;
  return TRUE;
}

void *
malloc (size_t size)
{
  if (is_refused (__builtin_return_address (0)))
    return NULL;
  return __interceptor_malloc != NULL ? __interceptor_malloc (size) : __libc_malloc (size);
}

void *
calloc (size_t n, size_t size)
{
  if (is_refused (__builtin_return_address (0)))
    return NULL;
  return __interceptor_calloc != NULL ? __interceptor_calloc (n, size) : __libc_calloc (n, size);
}

void *
realloc (void *memory, size_t size)
{
  if (is_refused (__builtin_return_address (0)))
    return NULL;
  return __interceptor_realloc != NULL ? __interceptor_realloc (memory, size)
                                       : __libc_realloc (memory, size);
}

static void
objects_add (Objects *objects, const struct dl_phdr_info *info)
{
  g_assert (objects->n < OBJECTS_MAX);
  objects->first[objects->n] = UINTPTR_MAX;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_LOAD)
      {
        guintptr at = (guintptr) (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        guintptr end = at + (guintptr) info->dlpi_phdr[i].p_memsz;

        objects->first[objects->n] = MIN (objects->first[objects->n], at);
        objects->last[objects->n] = MAX (objects->last[objects->n], end);
      }
  objects->n++;
}

static int
object_note (struct dl_phdr_info *info, size_t size, void *data)
{
  Objects *objects = data;

  for (guint i = 0; objects->names[i] != NULL; i++)
    if (strstr (info->dlpi_name, objects->names[i]) != NULL)
      objects_add (objects, info);
  return 0;
}

static gboolean
attempt_with (ScarceAttempt attempt, gpointer data, guint64 first, guint64 last)
{
  gboolean verdict = FALSE;

  first_refused = first;
  last_refused = last;
  refused = FALSE;
  seen = 0;
  counting = TRUE;
  verdict = attempt (data);
  counting = FALSE;
  return verdict;
}

guint
scarce_run (ScarceAttempt attempt, gpointer data, ScarceFor of, guint points)
{
  gboolean verdict = FALSE;
  guint64 count = 0, n = 0;

  if (glib.n == 0)
    {
      dl_iterate_phdr (object_note, &glib);
      dl_iterate_phdr (object_note, &fido);
    }
  g_assert (glib.n > 0 && fido.n == 2);
  scarce_for = of;
  verdict = attempt (data); /* what is looked up once is there from now on */
  g_assert_true (attempt_with (attempt, data, G_MAXUINT64, G_MAXUINT64) == verdict);
  count = seen;
  n = MIN (count, points);
  for (guint64 i = 0; i < n; i++)
    {
      guint64 at = i * count / n;

      gboolean alone = attempt_with (attempt, data, at, at);
      gboolean and_all = attempt_with (attempt, data, at, G_MAXUINT64);

      g_assert_true (verdict || !alone);
      g_assert_true (verdict || !and_all);
      g_assert_true (attempt_with (attempt, data, G_MAXUINT64, G_MAXUINT64) == verdict);
    }
  return (guint) count;
}

gboolean
scarce_refused (void)
{
  return refused;
}
