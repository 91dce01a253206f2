/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A descriptor that closes itself when its variable goes out of scope. */
#pragma once

#include <errno.h>
#include <unistd.h>

/* fd_clear: closes where there is one; errno stays as it was. */
static inline void
fd_clear (int *fd)
{
  int saved = errno;

  if (*fd >= 0)
    close (*fd);
  *fd = -1;
  errno = saved;
}

/* fd_steal: the descriptor, which the variable no longer owns. */
static inline int
fd_steal (int *fd)
{
  int stolen = *fd;

  *fd = -1;
  return stolen;
}

#define autofd __attribute__ ((cleanup (fd_clear))) int
