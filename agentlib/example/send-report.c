/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An agent that sends a file by e-mail, once a person has approved exactly that mail.
 *
 *   cc send-report.c -o send-report $(pkg-config --cflags --libs undersign-1)
 *   ./send-report security@example.com report.pdf
 *
 * Run it as the agent's user.  It exits 0 where the mail was sent, 1 where it certainly was not, and
 * 2 where nobody knows: then a person must find out, and it must not be run again.
 */
#include <stdio.h>
#include <undersign.h>

static UsSubmission *
report_mail (const char *to, const char *path, GError **error)
{
  g_autoptr (UsSubmission) mail = us_submission_new ("mail.send");
  const char *const recipients[] = { to, NULL };
  const char *const files[] = { path, NULL };

  /* The file is copied here: what becomes of it later changes nothing. */
  if (!us_submission_add_strings (mail, "to", recipients, error) ||
      !us_submission_add_string (mail, "subject", "Report", error) ||
      !us_submission_add_string (mail, "body", "The report is attached.", error) ||
      !us_submission_add_files (mail, "attachment", files, error))
    return NULL;
  us_submission_set_claim (mail, "It is the end of the month.");
  return g_steal_pointer (&mail);
}

/* What became of the request; NULL with an error where it is not known. */
static UsStatus *
ask (UsClient *client, UsSubmission *mail, GError **error)
{
  g_autofree char *run = us_client_open_run (client, "monthly-report", NULL, NULL, error);
  g_autofree char *request = NULL;
  UsState state;

  if (run == NULL)
    return NULL;
  request = us_client_submit (client, run, mail, &state, NULL, error);
  if (request == NULL)
    return NULL;
  printf ("%s: %s\n", request, us_state_to_string (state));
  fflush (stdout);
  return us_client_wait (client, request, -1, NULL, error);
}

static int
report (const UsStatus *status)
{
  UsExecuted executed = us_status_get_executed (status);
  const char *reason = us_status_get_reason (status);
  const char *why = reason != NULL && reason[0] != '\0' ? reason : us_status_get_result (status);

  printf ("%s, executed: %s", us_state_to_string (us_status_get_state (status)),
          us_executed_to_string (executed));
  if (why != NULL && why[0] != '\0')
    printf (" (%s)", why);
  printf ("\n");
  return executed == US_EXECUTED_YES ? 0 : executed == US_EXECUTED_NO ? 1 : 2;
}

int
main (int argc, char *argv[])
{
  g_autoptr (UsClient) client = us_client_new ();
  g_autoptr (UsSubmission) mail = NULL;
  g_autoptr (UsStatus) status = NULL;
  g_autoptr (GError) error = NULL;

  if (argc != 3)
    {
      fprintf (stderr, "usage: send-report TO FILE\n");
      return 1;
    }
  mail = report_mail (argv[1], argv[2], &error);
  if (mail != NULL)
    status = ask (client, mail, &error);
  if (status != NULL)
    return report (status);
  fprintf (stderr, "send-report: %s\n", error->message);
  /* Policy's refusals leave nothing behind; a service that cannot be reached may have taken it. */
  return g_error_matches (error, US_ERROR, US_ERROR_UNAVAILABLE) ? 2 : 1;
}
