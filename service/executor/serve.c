/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One hand-over: the peer's uid from the kernel, the kind against the table, the body as the type
 * in the table, the handler.  What is not in the table is refused, and nobody is allowed the kinds
 * of another: root is no broker, the broker is no administrator.
 */
#include "service/executor/executor.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/fd.h"
#include "service/base/wire.h"

#include <unistd.h>

typedef enum
{
  ROLE_BROKER = 1 << 0,
  ROLE_ADMIN = 1 << 1,
} Role;

static const struct
{
  HandoverKind kind;
  const char *name;
  guint roles;
  gboolean files; /* whether files may come along */
  const char *type;
  Handler handle;
} table[] = {
  { HANDOVER_PREPARE, "prepare", ROLE_BROKER, TRUE, WIRE_PREPARE, handle_prepare },
  { HANDOVER_ANSWER, "answer", ROLE_BROKER, TRUE, WIRE_ANSWER, handle_answer },
  { HANDOVER_EXECUTE, "execute", ROLE_BROKER, TRUE, WIRE_EXECUTE, handle_execute },
  { HANDOVER_CLOSE, "close", ROLE_BROKER, FALSE, WIRE_CLOSE, handle_close },
  { HANDOVER_QUERY, "query", ROLE_BROKER, FALSE, WIRE_QUERY, handle_query },
  { HANDOVER_POLICY, "policy", ROLE_BROKER, FALSE, WIRE_EMPTY, handle_policy },
  { HANDOVER_APPROVER, "approver", ROLE_BROKER, FALSE, WIRE_APPROVER_QUERY, handle_approver },
  { HANDOVER_MAY_PAUSE, "may-pause", ROLE_BROKER, FALSE, WIRE_MAY_PAUSE, handle_may_pause },
  { HANDOVER_RECEIPT, "receipt", ROLE_BROKER, FALSE, WIRE_RECEIPT, handle_receipt },
  { HANDOVER_ENROL, "enrol", ROLE_ADMIN, FALSE, WIRE_ENROL, handle_enrol },
  { HANDOVER_REVOKE, "revoke", ROLE_ADMIN, FALSE, WIRE_REVOKE, handle_revoke },
  { HANDOVER_PASSKEYS, "passkeys", ROLE_ADMIN, FALSE, WIRE_EMPTY, handle_passkeys },
  { HANDOVER_HALT, "halt", ROLE_ADMIN, FALSE, WIRE_HALT, handle_halt },
  { HANDOVER_RESUME, "resume", ROLE_ADMIN, FALSE, WIRE_HALT, handle_resume },
  { HANDOVER_RESOLVE, "resolve", ROLE_ADMIN, FALSE, WIRE_RESOLVE, handle_resolve },
  { HANDOVER_AUDIT, "audit", ROLE_ADMIN, FALSE, WIRE_AUDIT, handle_audit },
  { HANDOVER_CHECKPOINT, "checkpoint", ROLE_ADMIN, FALSE, WIRE_EMPTY, handle_checkpoint },
  { HANDOVER_PRUNE, "prune", ROLE_ADMIN, FALSE, WIRE_PRUNE, handle_prune },
  { HANDOVER_RELOAD, "reload", ROLE_ADMIN, FALSE, WIRE_EMPTY, handle_reload },
  { HANDOVER_STATUS, "status", ROLE_ADMIN | ROLE_BROKER, FALSE, WIRE_EMPTY, handle_status },
};

static gboolean
peer_roles (const ExecutorConfig *config, int sock, guint *out_roles, GError **error)
{
  guint roles = 0;
  uid_t uid = 0;

  if (!handover_peer_uid (sock, &uid, error))
    return FALSE;
  if (uid == config->broker_uid)
    roles |= ROLE_BROKER;
  if (uid == config->admin_uid)
    roles |= ROLE_ADMIN;
  if (roles == 0)
    {
      handover_discard (sock);
      return us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_PEER,
                           "uid %u may not speak to the executor", (guint) uid);
    }
  *out_roles = roles;
  return TRUE;
}

static gboolean
table_find (const Handover *handover, guint roles, gsize *out_i, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (table); i++)
    if (table[i].kind == handover->kind)
      {
        if ((table[i].roles & roles) == 0)
          return us_error_set (error, US_ERROR_REFUSED, US_REASON_BAD_PEER,
                               "this peer may not send \"%s\"", table[i].name);
        if (handover->n_fds > 0 && !table[i].files)
          return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                               "\"%s\" takes no files", table[i].name);
        *out_i = i;
        return TRUE;
      }
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE,
                       "the executor has no such kind");
}

static gboolean
serve (Session *session, const char **out_name, GError **error)
{
  g_auto (Handover) handover = { 0 };
  g_autoptr (GVariant) reply = NULL;
  autofd body_fd = -1;
  guint roles = 0;
  gsize i = 0;

  if (!peer_roles (session->executor->config, session->sock, &roles, error) ||
      !handover_receive (session->sock, &handover, &body_fd, error) ||
      !table_find (&handover, roles, &i, error))
    return FALSE;
  *out_name = table[i].name;
  if (!handover_decode (&handover, body_fd, table[i].type, error))
    return FALSE;

  session->admin = (roles & ROLE_ADMIN) != 0;
  session->fds = handover.fds;
  session->n_fds = handover.n_fds;
  reply = table[i].handle (session, handover.body, error);
  session->fds = NULL;
  session->n_fds = 0;
  return reply != NULL &&
         handover_send (session->sock, HANDOVER_REPLY, g_variant_ref_sink (reply),
                        &session->reply_fd, session->reply_fd >= 0 ? 1 : 0, error);
}

void
executor_serve (Executor *executor, int sock)
{
  Session session = { .executor = executor, .sock = sock, .reply_fd = -1 };
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  const char *name = "a hand-over";

  if (!serve (&session, &name, &error))
    {
      handover_send_error (sock, error, NULL);
      text = g_strescape (error->message, NULL);
      g_info ("%s refused: %s", name, text);
    }
  /* the ledger holds it already; who waits for the reply does not wait for the journal */
  journal_note_flush (&session.used_up);
  journal_note_flush (&session.note);
}

void
session_extend (Session *session)
{
  const ExecutorConfig *config = session->executor->config;

  if (config->timeout > 0)
    alarm (config->module_timeout + config->timeout);
}
