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
  char *agent;         /* its name in policy */
  gboolean exists;     /* it is there; if not, nothing below is known but the command */
  char *user;          /* its user's name */
  char *owner;         /* the name of the person it acts for */
  char *home;          /* of the owner */
  gboolean hides_home; /* order_look() has found that a unit empties it by itself */
  gboolean owns;       /* the caller is that person */
  ShareIds ids;
  PolicyLaunch limits;
  char **command;
  char **environment; /* NAME=value, of the caller's terminal and language */
  char *run, *part;   /* (nullable) */
  char *close_run;    /* (nullable): the id of a run that ends with it, if nobody closes it */
  char *directory;    /* (nullable): in one of the shares */
  guint16 rows, columns;
  GPtrArray *shares; /* Share */
} Order;

void order_free (Order *order);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Order, order_free)

/*
 * order_ask: as much of it as polkit is asked about: agent, exists, owns, owner and command.  No
 * file but those of policy is looked at, and of an agent that is not the caller's nothing is said.
 * @body: of type (sasa{sv}), see Launch() in dbus/org.undersign1.Launcher.xml
 * @caller: whose uid the bus says it is
 * Returns: (transfer full): NULL with an error for an agent that calls, or no command.
 */
Order *order_ask (const Policy *policy, GVariant *body, uid_t caller, GError **error);

/*
 * order_read: all of it, for whoever may have it started.
 * @fds: (nullable)
 * Returns: (transfer full): NULL with an error for whatever is not of its form, an agent that is
 *   not there, or a share that is not to be.
 */
Order *
order_read (const Policy *policy, GVariant *body, GUnixFDList *fds, uid_t caller, GError **error);

/*
 * order_look: whether the agent's user is the agent's alone, for which every directory of users is
 * asked, and the owner's home and the shares are good; in a child of look.h.
 * @prefix: what an agent's user is called before the agent's name
 * Returns: what hides_home is, or -1 with an error.
 */
int order_look (const Order *order, const char *prefix, GError **error);

/* order_was_asked: what polkit said yes to, for @asked, is enough for @order; FALSE with reason
 * denied-by-rule. */
gboolean order_was_asked (const Order *order, const Order *asked, GError **error);

/* order_command_text: for a person to read, in ASCII, its words escaped and quoted where they need
 * it; what is too long ends with how much is not shown.  (transfer full) */
char *order_command_text (const Order *order);

G_END_DECLS
