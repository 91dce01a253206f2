/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one table of the members of the bus face: where each is, what it takes and who may call it.
 * Nothing reaches a handler but through members_dispatch().
 */
#pragma once

#include "service/broker/broker.h"

#include <glib.h>

G_BEGIN_DECLS

/* Who may call: looked at before any value of the body is. */
typedef enum
{
  ROLE_NOBODY,    /* what is not in the table */
  ROLE_AGENT,     /* User= of an agent file */
  ROLE_INITIATOR, /* owner or initiator of some agent */
  ROLE_OPENER,    /* an agent, or who opened an open run for one */
  ROLE_APPROVER,  /* no agent's uid, and has an active passkey */
  ROLE_ANYONE,    /* an agent or an approver */
} Role;

/* What the call is about: looked at once the signature is right. */
typedef enum
{
  ABOUT_NOTHING,
  ABOUT_OWN_REQUEST, /* the object: the agent that submitted it */
  ABOUT_REQUEST,     /* the object: that agent, or a person whom it was shown */
  ABOUT_CARD,        /* the first argument: a person who may answer it */
} About;

typedef struct
{
  const char *interface;
  const char *member;
  const char *signature; /* of the arguments, exactly */
  gboolean on_request;   /* at /org/undersign1/request/ID, else at /org/undersign1 */
  Role role;
  About about;
  void (*handle) (Broker *broker, Call *call, Request *request);
} Member;

extern const Member members[]; /* ends with a NULL interface */

/* member_find: NULL for what is not there. */
const Member *member_find (const char *interface, const char *member);

/* members_judge: a BusJudge; touches nothing but the table. */
gboolean members_judge (const BusHeader *header, GError **out_fault, GError **error);

/* members_dispatch: a BusHandler; @data is the Broker. */
void members_dispatch (Call *call, gpointer data);

G_END_DECLS
