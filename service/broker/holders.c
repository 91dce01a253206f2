/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See holders.h.  Whoever leaves the bus stays among them: it may have passed the path on. */
#include "service/broker/holders.h"

static gboolean
find_holder (const Request *request, const char *name, guint *out_index)
{
  return request->holders != NULL &&
         g_ptr_array_find_with_equal_func (request->holders, name, g_str_equal, out_index);
}

static void
forget_holders (Request *request)
{
  g_clear_pointer (&request->holders, g_ptr_array_unref);
}

void
holders_begin (Request *request, const char *name)
{
  g_assert (request->holders == NULL);
  request->holders = g_ptr_array_new_with_free_func (g_free);
  holders_add (request, name);
}

void
holders_add (Request *request, const char *name)
{
  if (request->holders == NULL || find_holder (request, name, NULL))
    return;
  if (request->holders->len >= HOLDERS_MAX)
    forget_holders (request);
  else
    g_ptr_array_add (request->holders, g_strdup (name));
}

void
holders_expect (Request *request, const char *name)
{
  if (!find_holder (request, name, NULL))
    forget_holders (request);
}

gboolean
holders_leave (Request *request, const char *name)
{
  guint i = 0;

  if (!find_holder (request, name, &i))
    return FALSE;
  g_ptr_array_remove_index_fast (request->holders, i);
  return request->holders->len == 0;
}
