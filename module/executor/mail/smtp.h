/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One SMTP transaction: one connection, one mail, no second try. */
#pragma once

#include "module/executor/mail/message.h"

#include <glib.h>

typedef enum
{
  SMTP_STARTTLS, /* TLS is begun by command, and required */
  SMTP_TLS,      /* TLS from the first byte */
  SMTP_PLAIN,    /* none: to this machine only */
} SmtpSecurity;

typedef enum
{
  SMTP_DONE,    /* the server took the mail */
  SMTP_FAILED,  /* the server cannot have taken it */
  SMTP_UNKNOWN, /* all of it was sent, and no answer came */
} SmtpOutcome;

typedef struct
{
  const char *server; /* HOST:PORT, an IPv6 address in brackets */
  SmtpSecurity security;
  const char *from;
  const char *const *recipients; /* NULL-terminated: all of the envelope, each once */
  const char *user;              /* (nullable): without, there is no AUTH */
  const char *password;
  GBytes *ca; /* (nullable): PEM; instead of the system's authorities */
} Smtp;

/*
 * smtp_send:
 * @out_text: (out): what came of it, in our words and the server's numbers, never the server's
 * words: those are for whoever reads the server's log, not for an agent
 */
SmtpOutcome smtp_send (const Smtp *smtp, MessageReader *reader, char **out_text);

/* smtp_server_is_valid: HOST:PORT of characters that cannot be anything else in a URL. */
gboolean smtp_server_is_valid (const char *server);
/* smtp_server_is_loopback: localhost, 127.0.0.1 or [::1], each with a port. */
gboolean smtp_server_is_loopback (const char *server);
