/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whom the program believes: the users that must own the service's names on the bus, and the
 * machine that it is on.  main.c works them out; nothing of it comes from arguments or environment.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

typedef struct
{
  uid_t service_uid; /* of user "undersign" */
  uid_t admin_uid;   /* 0 */
  char *host;        /* host_id() */
  char *fault;       /* (nullable): why it could not be worked out: nobody is believed */
} Trust;

/* program_run: what main() returns; see undersign(1) for the numbers. */
int program_run (const Trust *trust, int argc, char **argv);

G_END_DECLS
