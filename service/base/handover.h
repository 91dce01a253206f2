/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the processes of the service speak to each other: one SOCK_SEQPACKET packet, a fixed header
 * and one sealed memfd with a GVariant in normal form, then the sealed memfds of files.  Nothing
 * else is accepted: not another version, not a byte more or less, not a descriptor too many.
 */
#pragma once

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

#define HANDOVER_MAX_BODY (4 * 1024 * 1024)
#define HANDOVER_MAX_FILES 16
#define HANDOVER_FILE_MAX (25 * 1024 * 1024)
#define HANDOVER_FILES_MAX (64 * 1024 * 1024) /* all files of one request */
#define HANDOVER_TIMEOUT 120 /* seconds that handover_call() waits, longer than any module runs */

/* Kinds are numbers of the wire and are never reused. */
typedef enum
{
  HANDOVER_REPLY = 1,
  HANDOVER_ERROR = 2,
  /* to the executor, from the broker */
  HANDOVER_PREPARE = 16,
  HANDOVER_ANSWER = 17,
  HANDOVER_EXECUTE = 18,
  HANDOVER_CLOSE = 19,
  HANDOVER_QUERY = 20,
  HANDOVER_POLICY = 21,
  HANDOVER_APPROVER = 22,
  HANDOVER_RECEIPT = 23,
  HANDOVER_MAY_PAUSE = 24,
  /* to the executor, from uid 0 */
  HANDOVER_ENROL = 32,
  HANDOVER_REVOKE = 33,
  HANDOVER_PASSKEYS = 34,
  HANDOVER_HALT = 35,
  HANDOVER_RESUME = 36,
  HANDOVER_RESOLVE = 37,
  HANDOVER_AUDIT = 38,
  HANDOVER_RELOAD = 39,
  HANDOVER_STATUS = 40,
  HANDOVER_CHECKPOINT = 41,
  HANDOVER_PRUNE = 42,
  /* to a runner, from the executor */
  HANDOVER_MODULE_DESCRIBE = 64,
  HANDOVER_MODULE_EXECUTE = 65,
  /* 66 has been used */
} HandoverKind;

typedef struct
{
  HandoverKind kind;
  GVariant *body; /* of the type that the receiver asked for, in normal form */
  int fds[HANDOVER_MAX_FILES]; /* each passed memfd_check() */
  guint n_fds;
} Handover;

void handover_clear (Handover *handover); /* closes the fds */
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Handover, handover_clear)

/*
 * handover_send:
 * @body: (transfer floating): the message
 * @fds: (array length=n_fds): sealed memfds, not closed
 *
 * Never blocks longer than the socket's SO_SNDTIMEO.
 */
gboolean handover_send (int sock,
                        HandoverKind kind,
                        GVariant *body,
                        const int *fds,
                        guint n_fds,
                        GError **error);

/*
 * handover_send_error: sends the code and message of @reason as HANDOVER_ERROR.  An error of
 * another domain goes as US_ERROR_UNAVAILABLE with reason internal.
 */
gboolean handover_send_error (int sock, const GError *reason, GError **error);

/*
 * handover_receive, handover_decode: in two steps, since the type of the body follows from
 * the kind.  Between them nothing of the body has been looked at.
 * @out_handover: (out): written on success only; the caller clears it
 * @out_body_fd: (out): a sealed memfd of the announced size; the caller closes it
 * @body_fd: borrowed
 * @type: a definite GVariant type
 *
 * Returns: FALSE with US_ERROR_INVALID_ARGUMENT and reason bad-message, not-sealed or too-large, or
 *   with US_ERROR_UNAVAILABLE and reason unreachable where the peer is gone or too slow.  Every
 *   descriptor that came along is then closed.
 */
gboolean handover_receive (int sock, Handover *out_handover, int *out_body_fd, GError **error);
gboolean handover_decode (Handover *handover, int body_fd, const char *type, GError **error);

/*
 * handover_call: connects to @path, sends, waits for one reply.
 * @reply_type: the GVariant type of the reply's body
 * @out_reply: (out): cleared by the caller
 * @out_sock: (out) (optional): the connection, for kinds with a second reply; closed otherwise
 *
 * Returns: FALSE with the error that the peer sent (its code and message), or US_ERROR_UNAVAILABLE
 *   with reason unreachable or bad-message.  A caller that must know whether the peer may have
 *   acted connects by itself: only a failed handover_connect() says that it did nothing.
 */
gboolean handover_call (const char *path,
                        HandoverKind kind,
                        GVariant *body,
                        const int *fds,
                        guint n_fds,
                        const char *reply_type,
                        Handover *out_reply,
                        int *out_sock,
                        GError **error);

/* handover_receive_reply: one more reply from a connection. */
gboolean handover_receive_reply (int sock,
                                 const char *reply_type,
                                 Handover *out_reply,
                                 GError **error);

/* handover_connect: a connected CLOEXEC socket with both time-outs set, or -1. */
int handover_connect (const char *path, guint timeout_seconds, GError **error);

/*
 * handover_connect_now: does not wait for a place in the backlog.
 * @out_full: (out): whether there is none; then this returns -1 without an error
 */
int handover_connect_now (const char *path, guint timeout_seconds, gboolean *out_full, GError **error);

/*
 * handover_discard: waits for one message and drops it unread, with its descriptors.  For a peer that
 * is refused for what it is: data still unread when a socket is closed would overtake the refusal.
 */
void handover_discard (int sock);

/* handover_peer_uid: SO_PEERCRED; FALSE leaves @out_uid alone. */
gboolean handover_peer_uid (int sock, uid_t *out_uid, GError **error);

G_END_DECLS
