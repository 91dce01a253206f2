/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The handlers of the members, one file an interface.  Each is called by members.c alone, with a
 * call whose sender, role and signature are right and, where the table says that it is about one,
 * with the request; each ends the call, now or later.
 */
#pragma once

#include "service/broker/broker.h"

G_BEGIN_DECLS

/* agent-face.c */
void handle_get_info (Broker *broker, Call *call, Request *request);
void handle_open_run (Broker *broker, Call *call, Request *request);
void handle_open_run_for (Broker *broker, Call *call, Request *request);
void handle_close_run (Broker *broker, Call *call, Request *request);
void handle_list_requests (Broker *broker, Call *call, Request *request);

/* action-face.c */
void handle_list_actions (Broker *broker, Call *call, Request *request);
void handle_describe_action (Broker *broker, Call *call, Request *request);

/* submit.c */
void handle_submit (Broker *broker, Call *call, Request *request);

/* request-face.c */
void handle_get_state (Broker *broker, Call *call, Request *request);
void handle_watch (Broker *broker, Call *call, Request *request);
void handle_unwatch (Broker *broker, Call *call, Request *request);
void handle_leave (Broker *broker, Call *call, Request *request);
void handle_withdraw (Broker *broker, Call *call, Request *request);
void handle_introspect (Broker *broker, Call *call, Request *request);

/* approver-face.c */
void handle_register (Broker *broker, Call *call, Request *request);
void handle_get_card (Broker *broker, Call *call, Request *request);
void handle_open_file (Broker *broker, Call *call, Request *request);
void handle_pause_agent (Broker *broker, Call *call, Request *request);
void handle_get_receipt (Broker *broker, Call *call, Request *request);

/* answer-face.c */
void handle_get_statement (Broker *broker, Call *call, Request *request);
void handle_approve (Broker *broker, Call *call, Request *request);
void handle_deny (Broker *broker, Call *call, Request *request);

G_END_DECLS
