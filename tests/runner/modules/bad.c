/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Objects that must not be loaded, one for each value of BAD.  The constructor ends whoever loads
 * one; so does the entry point, should it ever be reached.
 */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define DEFAULT __attribute__ ((visibility ("default"), used))

#if BAD == 1   /* no version at all */
#elif BAD == 2 /* an older interface */
DEFAULT const uint32_t us_sm_abi_version = 0;
#elif BAD == 3 /* a newer one */
DEFAULT const uint32_t us_sm_abi_version = 2;
#elif BAD == 4 /* of another size */
DEFAULT const uint64_t us_sm_abi_version = 1;
#elif BAD == 5 /* not exported */
__attribute__ ((visibility ("hidden"), used)) const uint32_t us_sm_abi_version = 1;
#elif BAD == 6 /* a function */
DEFAULT uint32_t us_sm_abi_version (void);
DEFAULT uint32_t
us_sm_abi_version (void)
{
  return 1;
}
#elif BAD == 7 /* without content in the file */
DEFAULT uint32_t us_sm_abi_version;
#elif BAD == 8 /* right, but it cannot be linked */
extern int us_sm_no_such_function (void);
DEFAULT const uint32_t us_sm_abi_version = 1;
DEFAULT int us_sm_describe (void *handle);
DEFAULT int
us_sm_describe (void *handle)
{
  return us_sm_no_such_function ();
}
#elif BAD == 9 /* weak */
__attribute__ ((weak)) DEFAULT const uint32_t us_sm_abi_version = 1;
#endif

DEFAULT int us_sm_execute (void *handle);

DEFAULT int
us_sm_execute (void *handle)
{
  abort ();
}

__attribute__ ((constructor)) static void
loaded (void)
{
  _exit (99);
}
