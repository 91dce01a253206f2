/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A mail server with certificates of its own, the module in its runner, and calls of it. */
#pragma once

#include "tests/lib/runner.h"

#include <glib.h>

G_BEGIN_DECLS

#define PASSWORD "hunter2-and-more"
#define PASSWORD_BASE64 "aHVudGVyMi1hbmQtbW9yZ" /* of the password, as AUTH LOGIN sends it */

typedef struct
{
  Runner *runner;
  char *dir;
  char *server; /* HOST:PORT */
  char *ca;
  GPid pid;
  int input; /* the server ends when this is closed */
} Fixture;

/* mail_test_run: g_test_run() with a folder of certificates around it. */
int mail_test_run (void);
/* certificates: that folder. */
const char *certificates (void);

/*
 * fixture_new_with:
 * @security, @certificate, @fault: as server.py has them
 * @seconds: the deadline of the runner
 */
Fixture *
fixture_new_with (const char *security, const char *certificate, const char *fault, guint seconds);
Fixture *fixture_new (const char *security, const char *fault);
void fixture_free (Fixture *fixture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Fixture, fixture_free)

void add_settings (Call *call, const char *server, const char *security, const char *ca);
/* add_recipients: lists separated by spaces, "" for none. */
void add_recipients (Call *call, const char *to, const char *cc, const char *bcc);
void add_text (Call *call);
/* simple_call: to one recipient, with the credential. */
Call *simple_call (Fixture *fixture, const char *security);

/* execute: the outcome; neither result nor log may hold the password. */
char *execute (Fixture *fixture, Call *call, char **out_result);
/* check: outcome, result, and how many mails the server has. */
void check (Fixture *fixture, Call *call, const char *outcome, const char *text, guint mails);

/* read_file: of the server's folder, "" where there is none. */
char *read_file (Fixture *fixture, const char *name, gsize *out_len);
guint count_mails (Fixture *fixture);
/* expect_file: that the first mail has that. */
void expect_file (Fixture *fixture, const char *name, const char *content);

/* check_untouched: nobody has said a word to the server. */
void check_untouched (Fixture *fixture);
/* check_no_secret_on_wire: no login, no sender, no content went over it. */
void check_no_secret_on_wire (Fixture *fixture);

G_END_DECLS
