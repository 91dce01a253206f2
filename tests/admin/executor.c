/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stands in for the executor: `executor SOCKET` prints each hand-over as "KIND BODY" and answers
 * with fixed values.  A halt for "break" is answered with an error, one for "hang up" not at all.
 */
#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/handover.h"
#include "service/base/wire.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

typedef struct
{
  HandoverKind kind;
  const char *type;
  const char *reply; /* GVariant text */
} Answer;

static const Answer answers[] = {
  { HANDOVER_ENROL, WIRE_ENROL, "([byte 0x0b, 0x16],)" },
  { HANDOVER_REVOKE, WIRE_REVOKE, "()" },
  { HANDOVER_PASSKEYS, WIRE_EMPTY,
    "([([byte 0x01], 'daemon', 1, 'software', 'one', 'example.com', 1000, true, 'sha256:00'),"
    "  ([byte 0x02], 'daemon', 1, 'phone', 'two', 'example.com', 2000, false, 'sha256:01'),"
    "  ([byte 0x03], 'games', 5, 'phone', 'three', 'example.com', 3000, true, 'sha256:02')],)" },
  { HANDOVER_HALT, WIRE_HALT, "()" },
  { HANDOVER_RESUME, WIRE_HALT, "()" },
  { HANDOVER_RESOLVE, WIRE_RESOLVE, "()" },
  { HANDOVER_AUDIT, WIRE_AUDIT, "([(7, [byte 0x7b, 0x7d], [byte 0xff])],)" },
  { HANDOVER_RELOAD, WIRE_EMPTY, "('rules/a.rule:3: no such key',)" },
  { HANDOVER_CHECKPOINT, WIRE_EMPTY, "([byte 0x7b, 0x7d],)" },
  { HANDOVER_PRUNE, WIRE_PRUNE, "(7, true)" },
  { HANDOVER_STATUS, WIRE_EMPTY, "({'running': <true>, 'halted': <''>},)" },
};

/* The reply's type follows from the kind; the parser needs it for empty and small numbers. */
static const char *
reply_type (HandoverKind kind)
{
  switch ((int) kind)
    {
    case HANDOVER_ENROL:
      return WIRE_ENROL_REPLY;
    case HANDOVER_PASSKEYS:
      return WIRE_PASSKEYS_REPLY;
    case HANDOVER_AUDIT:
      return WIRE_AUDIT_REPLY;
    case HANDOVER_RELOAD:
      return WIRE_POLICY_REPLY;
    case HANDOVER_CHECKPOINT:
      return WIRE_CHECKPOINT_REPLY;
    case HANDOVER_PRUNE:
      return WIRE_PRUNE_REPLY;
    case HANDOVER_STATUS:
      return WIRE_STATUS_REPLY;
    default:
      return WIRE_EMPTY;
    }
}

static void
serve (int sock)
{
  g_auto (Handover) handover = { 0 };
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  const Answer *answer = NULL;
  int body = -1;

  if (!handover_receive (sock, &handover, &body, &error))
    g_error ("%s", error->message);
  for (gsize i = 0; i < G_N_ELEMENTS (answers); i++)
    if (answers[i].kind == handover.kind)
      answer = &answers[i];
  if (answer == NULL || !handover_decode (&handover, body, answer->type, &error))
    g_error ("kind %d: %s", (int) handover.kind, error != NULL ? error->message : "unknown");
  close (body);
  text = g_variant_print (handover.body, FALSE);
  printf ("%d %s\n", (int) handover.kind, text);
  fflush (stdout);
  if (strstr (text, "'hang up'") != NULL)
    return;
  if (strstr (text, "'break'") != NULL)
    {
      g_autoptr (GError) reason = NULL;

      us_error_set (&reason, US_ERROR_HALTED, US_REASON_HALTED, "it is halted already");
      handover_send_error (sock, reason, NULL);
      return;
    }
  handover_send (sock, HANDOVER_REPLY,
                 g_variant_parse (G_VARIANT_TYPE (reply_type (handover.kind)), answer->reply, NULL,
                                  NULL, NULL),
                 NULL, 0, NULL);
}

int
main (int argc, char **argv)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int listener = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

  if (argc != 2 || strlen (argv[1]) >= sizeof address.sun_path)
    return 2;
  strcpy (address.sun_path, argv[1]);
  if (bind (listener, (const struct sockaddr *) &address, sizeof address) != 0 ||
      listen (listener, 8) != 0)
    return 1;
  printf ("ready\n");
  fflush (stdout);
  for (;;)
    {
      int sock = accept4 (listener, NULL, NULL, SOCK_CLOEXEC);

      if (sock < 0)
        return 1;
      serve (sock);
      close (sock);
    }
}
