/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign approve and deny --sign: the card, the person's answer, the signature, the outcome.
 * There is no way to approve but by a person at a terminal who types the fingerprint of the card that
 * is on it: no option, no file, no variable answers.  What is not an answer leaves the request as it
 * was.  Where it is to be denied it cannot be approved.
 */
#include "module/card/tty/program.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "module/card/tty/pager.h"
#include "module/card/tty/service.h"
#include "module/card/tty/signing.h"
#include "service/base/clock.h"

#include <string.h>
#include <unistd.h>

typedef struct
{
  const Trust *trust;
  Service *service;
  Terminal *terminal;
  Pager *pager;
  Signing *signing;
  char *user;
  char *request;
  Card *card;
  gboolean denying;   /* only a signed denial is wanted */
  const char *reason; /* (nullable): of that; else the person is asked */
  /* what the bus told meanwhile */
  gboolean reload, lost;
  char *removed; /* (nullable): its state, escaped */
} Approval;

static void
approval_clear (Approval *approval)
{
  g_clear_pointer (&approval->pager, pager_free);
  g_clear_pointer (&approval->card, card_free);
  g_clear_pointer (&approval->signing, signing_free);
  g_clear_pointer (&approval->service, service_close);
  g_clear_pointer (&approval->terminal, terminal_close);
  g_free (approval->user);
  g_free (approval->request);
  g_free (approval->removed);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Approval, approval_clear)

static void
on_news (ServiceNews news, const char *request, const char *word, gpointer data)
{
  Approval *approval = data;

  if (news == NEWS_LOST)
    approval->lost = TRUE;
  else if (strcmp (request, approval->request) != 0)
    return;
  else if (news == NEWS_ADDED)
    approval->reload = TRUE;
  else if (news == NEWS_REMOVED && approval->removed == NULL)
    approval->removed = escape_line (word);
  terminal_wake (approval->terminal);
}

/* The text for the person, without the word before it. */
static const char *
without_reason (const GError *error)
{
  const char *colon = strstr (error->message, ": ");

  return colon != NULL ? colon + 2 : error->message;
}

/* Fetches the card and shows it from its start, unless it is the one that is being read, or of a
 * request that no longer waits. */
static gboolean
load_card (Approval *approval, GError **error)
{
  g_autoptr (Card) fresh = service_card (approval->service, approval->request, error);
  g_autoptr (GError) local = NULL;
  gboolean first = approval->card == NULL;

  approval->reload = FALSE;
  if (fresh == NULL)
    return FALSE;
  if (strcmp (card_state (fresh), "pending") != 0)
    {
      if (approval->removed == NULL)
        approval->removed = g_strdup (card_state (fresh));
      return TRUE;
    }
  if (!first && card_same (fresh, approval->card))
    return TRUE;
  g_clear_pointer (&approval->card, card_free);
  approval->card = g_steal_pointer (&fresh);
  if (!signing_possible (approval->signing, approval->card, &local) && approval->denying)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  pager_show (approval->pager, approval->card,
              local != NULL        ? without_reason (local)
              : approval->denying ? "you are here to deny it, with your signature"
                                  : NULL,
              first ? NULL : "The card changed: read it anew.");
  return TRUE;
}

/* --- signing --- */

/* What came over the bus while the person typed must not be overtaken. */
static gboolean
check_still_open (Approval *approval, GError **error)
{
  while (g_main_context_iteration (NULL, FALSE))
    ;
  if (approval->lost)
    return us_error_set (error, US_ERROR_UNAVAILABLE, US_REASON_UNREACHABLE,
                         "the service left the bus: nothing was answered");
  if (approval->removed != NULL)
    return us_error_set (error, US_ERROR_WRONG_STATE, US_REASON_TOO_LATE,
                         "the request no longer waits: %s", approval->removed);
  if (approval->reload)
    {
      g_autoptr (Card) fresh = service_card (approval->service, approval->request, error);

      if (fresh == NULL)
        return FALSE;
      approval->reload = !card_same (fresh, approval->card);
    }
  if (approval->reload)
    return us_error_set (error, US_ERROR_WRONG_STATE, US_REASON_RECORD_CHANGED,
                         "the card changed while you answered: nothing was sent");
  return TRUE;
}

static void
show_signing (Approval *approval)
{
  g_autofree char *summary = escape_line (record_action_summary (card_record (approval->card)));

  pager_begin (approval->pager, approval->denying ? "sign your denial" : "sign your approval");
  terminal_put (approval->terminal, STYLE_BOLD, " ");
  terminal_put (approval->terminal, STYLE_BOLD, summary);
  terminal_newline (approval->terminal);
  terminal_put (approval->terminal, STYLE_PLAIN, " fingerprint ");
  terminal_put (approval->terminal, STYLE_PLAIN, card_fingerprint (approval->card));
  terminal_newline (approval->terminal);
  terminal_newline (approval->terminal);
}

/* The whole way from the person's answer, with @reason a denial, to the service's.  Returns the new
 * state. */
static char *
answer_signed (Approval *approval, const char *reason, GError **error)
{
  const char *decision = reason != NULL ? "deny" : "approve";
  const CardCredential *credential = NULL;
  g_autoptr (GBytes) statement = NULL;
  g_auto (KeyAssertion) assertion = { 0 };
  ServiceAnswer answer = { 0 };

  show_signing (approval);
  credential = signing_pick (approval->signing, approval->card, error);
  if (credential == NULL)
    return NULL;
  statement =
      service_statement (approval->service, approval->request, decision, credential->id, error);
  if (statement == NULL ||
      !card_check_statement (approval->card, statement, decision, credential, approval->user,
                             getuid (), clock_wall (), clock_boottime (), error))
    return NULL;
  if (!signing_sign (approval->signing, credential->id, statement, &assertion, error) ||
      !check_still_open (approval, error))
    return NULL;
  answer = (ServiceAnswer){ statement, credential->id, assertion.client_data, assertion.auth_data,
                            assertion.signature };
  if (reason != NULL)
    return service_deny (approval->service, approval->request, reason, &answer, error);
  return service_approve (approval->service, approval->request, &answer, error);
}

/* --- the end --- */

static int
tell_outcome (Approval *approval, GError **error)
{
  g_autoptr (ServiceOutcome) outcome = service_wait (approval->service, approval->request, error);

  if (outcome == NULL)
    return EXIT_NOT_DONE;
  if (outcome->result[0] != '\0')
    say ("%s: %s", outcome->state, outcome->result);
  else if (outcome->reason[0] != '\0')
    say ("%s: %s", outcome->state, outcome->reason);
  else
    say ("%s", outcome->state);
  if (strcmp (outcome->state, "done") == 0)
    return EXIT_OK;
  if (strcmp (outcome->executed, "no") == 0)
    say ("Nothing ran.");
  else
    say ("Whether anything ran is not known; somebody must find out.");
  return EXIT_NOT_DONE;
}

static int
finish_approved (Approval *approval, const char *state, GError **error)
{
  guint counted, needed;

  if (strcmp (state, "pending") == 0)
    {
      card_answers (approval->card, &counted, &needed);
      say ("Your approval counts; the request waits for others (%u needed in all).", needed);
      return EXIT_OK;
    }
  say ("Approved. Waiting for the outcome; to stop waiting changes nothing.");
  return tell_outcome (approval, error);
}

static int
finish_failed (Approval *approval, GError *failure, GError **error)
{
  gboolean no_answer = us_error_has_reason (failure, US_REASON_NO_ANSWER);

  g_propagate_error (error, failure);
  return no_answer ? EXIT_NO_ANSWER : EXIT_REFUSED;
}

static int
end (Approval *approval, const char *text)
{
  g_clear_pointer (&approval->pager, pager_free);
  g_clear_pointer (&approval->terminal, terminal_close);
  say ("%s", text);
  return EXIT_NO_ANSWER;
}

static int
answer_approve (Approval *approval, GError **error)
{
  GError *failure = NULL;
  g_autofree char *state = answer_signed (approval, NULL, &failure);

  service_listen (approval->service, NULL, NULL);
  g_clear_pointer (&approval->pager, pager_free);
  g_clear_pointer (&approval->terminal, terminal_close);
  if (state == NULL)
    return finish_failed (approval, failure, error);
  return finish_approved (approval, state, error);
}

/* FALSE where the person went back to the card. */
static gboolean
answer_deny (Approval *approval, int *out_status, GError **error)
{
  const char *reason =
      approval->reason != NULL ? approval->reason : pager_ask_reason (approval->pager);
  g_autofree char *state = NULL;
  GError *failure = NULL;

  if (reason == NULL)
    return FALSE;
  state = approval->denying
              ? answer_signed (approval, reason, &failure)
              : service_deny (approval->service, approval->request, reason, NULL, &failure);
  service_listen (approval->service, NULL, NULL);
  g_clear_pointer (&approval->pager, pager_free);
  g_clear_pointer (&approval->terminal, terminal_close);
  if (state != NULL)
    say ("%s: %s", approval->request, state);
  *out_status = state != NULL ? EXIT_OK : finish_failed (approval, failure, error);
  return TRUE;
}

/* TRUE where there is nothing more to answer. */
static gboolean
handle_news (Approval *approval, int *out_status, GError **error)
{
  g_autofree char *text = NULL;

  if (!approval->lost && approval->removed == NULL && approval->reload &&
      !load_card (approval, error))
    {
      *out_status = EXIT_REFUSED;
      return TRUE;
    }
  if (approval->lost)
    *out_status = end (approval, "The service left the bus. Nothing was answered.");
  else if (approval->removed != NULL)
    {
      text = g_strdup_printf ("The request no longer waits: %s. Nothing was answered.",
                              approval->removed);
      *out_status = end (approval, text);
    }
  else
    return FALSE;
  return TRUE;
}

/* Fetches the card for the first time, or anew.  FALSE where the person can't answer it. */
static gboolean
begin_reading (Approval *approval, int *out_status, GError **error)
{
  g_clear_pointer (&approval->card, card_free);
  *out_status = EXIT_REFUSED;
  return load_card (approval, error) && !handle_news (approval, out_status, error);
}

/* The person left: what came over the bus meanwhile is told, too. */
static int
end_unanswered (Approval *approval, const char *text, GError **error)
{
  int status = EXIT_REFUSED;

  while (g_main_context_iteration (NULL, FALSE))
    ;
  return handle_news (approval, &status, error) ? status : end (approval, text);
}

static int
run (Approval *approval, GError **error)
{
  int status = EXIT_REFUSED;

  if (!begin_reading (approval, &status, error))
    return status;
  for (;;)
    switch (pager_run (approval->pager))
      {
      case PAGER_APPROVE:
        return answer_approve (approval, error);
      case PAGER_DENY:
        if (answer_deny (approval, &status, error))
          return status;
        if (!begin_reading (approval, &status, error))
          return status;
        break;
      case PAGER_WOKEN:
        if (handle_news (approval, &status, error))
          return status;
        break;
      case PAGER_WRONG:
        return end_unanswered (
            approval, "That is not the fingerprint. Nothing was answered; the request waits.",
            error);
      case PAGER_LEFT:
      default:
        return end_unanswered (approval, "Nothing was answered; the request waits.", error);
      }
}

/* The whole dialogue on one request; @signing and the rest are the caller's. */
static int
answer_card (Approval *approval, const AnswerOptions *options, const char *id, GError **error)
{
  if (!service_check_id (id, error))
    return EXIT_USAGE;
  if (!terminal_check (error))
    return EXIT_NO_TERMINAL;
  approval->user = program_user (error);
  if (approval->user != NULL)
    approval->signing = signing_new (
        approval->trust, &approval->terminal, options->security || options->devices != NULL,
        (const char *const *) options->devices, error);
  approval->service = approval->signing != NULL ? service_open (approval->trust, error) : NULL;
  if (approval->service == NULL)
    return EXIT_REFUSED;
  approval->request = service_find (approval->service, id, error);
  if (approval->request == NULL)
    return EXIT_REFUSED;

  approval->terminal = terminal_open (TERMINAL_SCREEN, error);
  if (approval->terminal == NULL)
    return EXIT_NO_TERMINAL;
  approval->pager = pager_new (approval->terminal);
  service_listen (approval->service, on_news, approval);
  return run (approval, error);
}

int
card_deny_signed (const Trust *trust,
                  const AnswerOptions *options,
                  const char *id,
                  const char *reason,
                  GError **error)
{
  g_auto (Approval) approval = { .trust = trust, .denying = TRUE, .reason = reason };

  return answer_card (&approval, options, id, error);
}

int
verb_approve (const Trust *trust, int argc, char **argv, GError **error)
{
  g_auto (Approval) approval = { .trust = trust };
  g_auto (AnswerOptions) options = { 0 };
  const GOptionEntry entries[] = {
    ANSWER_OPTIONS (options),
    { NULL, 0, 0, 0, NULL, NULL, NULL },
  };

  if (!program_parse ("approve", "ID",
                      "Shows the card of a request, page by page, on this terminal.  At its end "
                      "you type its fingerprint to approve it, and sign that with your passkey.  "
                      "Leaving it answers nothing.",
                      entries, 1, &argc, &argv, error))
    return EXIT_USAGE;
  return answer_card (&approval, &options, argv[1], error);
}
