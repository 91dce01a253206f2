/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What somebody wants started, read strictly from a call: the agent as policy has it, the command,
 * and the little of the caller's world that goes with it.
 */
#pragma once

#include "service/launcher/share.h"
#include "service/policy/policy.h"

#include <gio/gunixfdlist.h>

G_BEGIN_DECLS

#define ORDER_COMMAND_BYTES_MAX (128 * 1024)
#define ORDER_COMMAND_WORDS_MAX 1024

typedef struct
{
  char *agent;     /* its name in policy */
  gboolean exists; /* it is there; if not, nothing below is known but the command */
  char *user;      /* its user's name */
  char *owner;     /* the name of the person it acts for */
  char *home;      /* of the owner */
  gboolean owns;   /* the caller is that person */
  ShareIds ids;
  PolicyLaunch limits;
  char **command;
  char **environment; /* NAME=value, of the caller's terminal and language */
  char *run, *part;   /* (nullable) */
  char *directory;    /* (nullable): in one of the shares */
  guint16 rows, columns;
  GPtrArray *shares; /* Share */
} Order;

void order_free (Order *order);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Order, order_free)

/*
 * order_read:
 * @body: of type (sasa{sv}), see Launch() in dbus/org.undersign1.Launcher.xml
 * @fds: (nullable)
 * @caller: whose uid the bus says it is
 *
 * Returns: (transfer full): NULL with an error for whatever is not of its form, an agent that is
 *   not there, or a share that is not to be.
 */
Order *order_read (
    const PolicySource *source, GVariant *body, GUnixFDList *fds, uid_t caller, GError **error);

/* order_command_text: for a person to read, escaped and not too long.  (transfer full) */
char *order_command_text (const Order *order);

G_END_DECLS
