/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who a caller is: the uid that the bus has for its unique name, and nothing else.  Kept as long as
 * the name is on the bus; names are never used again.
 */
#pragma once

#include <gio/gio.h>
#include <sys/types.h>

G_BEGIN_DECLS

typedef struct Identity Identity;

/*
 * IdentityMap: a test runs everything under one uid and says here which one a name stands for.
 * FALSE: the caller is nobody.
 */
typedef gboolean (*IdentityMap) (const char *name, uid_t *inout_uid, gpointer data);

/* @map: (nullable) */
Identity *identity_new (GDBusConnection *connection, IdentityMap map, gpointer data);
/* identity_free: whoever is being looked up is nobody. */
void identity_free (Identity *identity);

/*
 * IdentityCallback:
 * @known: FALSE on any error, and where the name has left: then there is no uid
 */
typedef void (*IdentityCallback) (gboolean known, uid_t uid, gpointer data);

/* identity_lookup: calls back at once where the name is known. */
void identity_lookup (Identity *identity,
                      const char *name,
                      IdentityCallback callback,
                      gpointer data);

/* identity_is_known: the name was found and has not left. */
gboolean identity_is_known (const Identity *identity, const char *name);

/* identity_forget: the name has left the bus. */
void identity_forget (Identity *identity, const char *name);

G_END_DECLS
