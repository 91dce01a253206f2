/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The connection to the bus: every method call is judged by its header before any of its body is
 * read, taken off the connection before GDBus looks at it, becomes a Call, and is answered once.
 */
#pragma once

#include "service/base/bus-header.h"
#include "service/base/bus-share.h"

#include <gio/gio.h>
#include <gio/gunixfdlist.h>
#include <sys/types.h>

G_BEGIN_DECLS

/*
 * What may have no answer yet, see bus-share.h.  GDBus takes a message apart into up to 70
 * times its size; the bus has at most 256 connections of one uid.
 */
#define BUS_CALLS_MAX 32                    /* of one connection */
#define BUS_CALLS_UNKNOWN_MAX 4             /* of one of which the bus was not yet asked */
#define BUS_ALL_CALLS_MAX 4096
#define BUS_ALL_BYTES_MAX (8 * 1024 * 1024) /* of messages */
#define BUS_ALL_FDS_MAX 1024

typedef struct Bus Bus;
typedef struct Call Call;

/*
 * BusJudge: whether a call may come, by its header alone; in a thread of its own.
 * @out_fault: why it comes without its body and files, see call_fault()
 */
typedef gboolean (*BusJudge) (const BusHeader *header, GError **out_fault, GError **error);
/* BusHandler: gets each call, on the main loop; owns it until it was answered. */
typedef void (*BusHandler) (Call *call, gpointer data);
/* BusGone: a connection left the bus, or ours was closed (@name is NULL). */
typedef void (*BusGone) (const char *name, gpointer data);

/*
 * bus_new: connects and takes calls, but has no name yet.
 * @address: (nullable): NULL for the system bus
 */
Bus *bus_new (const char *address,
              BusJudge judge,
              BusHandler handler,
              BusGone gone,
              gpointer data,
              GError **error);
void bus_free (Bus *bus);
/* bus_own: the name, or nothing: it is not queued for. */
gboolean bus_own (Bus *bus, const char *name, GError **error);
GDBusConnection *bus_connection (Bus *bus);

BusAmount bus_waiting (Bus *bus); /* calls without an answer */
guint64 bus_passed (Bus *bus);    /* bytes of calls that GDBus was given until now */

/* bus_signal: to one connection. */
void bus_signal (Bus *bus,
                 const char *destination,
                 const char *path,
                 const char *interface,
                 const char *member,
                 GVariant *body);

/* --- a call --- */

const char *call_sender (const Call *call);
const char *call_path (const Call *call);
const char *call_interface (const Call *call); /* "" for none */
const char *call_member (const Call *call);
/* call_fault: (nullable), borrowed: what its role may know is wrong with it; it has no body then. */
const GError *call_fault (const Call *call);
GVariant *call_body (const Call *call); /* borrowed; "()" for none */
GUnixFDList *call_fds (const Call *call); /* (nullable), borrowed */

/* call_uid: the caller's, as members.c found it; a call without one is a programming error. */
uid_t call_uid (const Call *call);
/* call_set_uid: from now on what the connection has waiting is counted for this uid. */
void call_set_uid (Call *call, uid_t uid);

/* call_data: what members.c keeps with it. */
gpointer call_data (const Call *call);
void call_set_data (Call *call, gpointer data, GDestroyNotify free_data);

/* Each of these ends the call. */
void call_return (Call *call, GVariant *body); /* (transfer floating) (nullable) */
void call_return_fd (Call *call, GVariant *body, int fd); /* closes @fd */
void call_fail (Call *call, const GError *error);
void call_fail_with (Call *call, int code, const char *reason, const char *text);

G_END_DECLS
