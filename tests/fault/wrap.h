/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a function of the C library is taken the place of, and called from there.  For the files of
 * fault.so alone.
 */
#pragma once

#include <dlfcn.h>

/* The label keeps a definition apart from what the headers make of the name. */
#define WRAP(type, name, parameters)                                                               \
  type wrap_##name parameters __asm__ (#name);                                                     \
  type wrap_##name parameters

#define REAL(type, name, parameters)                                                               \
  static type (*real) parameters;                                                                  \
  if (real == NULL)                                                                                \
  *(void **) &real = dlsym (RTLD_NEXT, #name)
