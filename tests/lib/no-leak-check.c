/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For test programs that harden themselves and clear their environment: LeakSanitizer looks at the
 * process by ptrace(2), which an undumpable process refuses even to itself, and it cannot be told
 * so by a variable.  All other checks of AddressSanitizer stay.
 */

const char *__asan_default_options (void);

const char *
__asan_default_options (void)
{
  return "detect_leaks=0";
}
