/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The verbs about requests: request, status, wait, withdraw, list. */
#include "agentlib/cli/cli.h"

#include "agentlib/cli/arguments.h"
#include "agentlib/cli/output.h"

/* Prints a status and says how to exit. */
static ExitStatus
report (const Cli *cli, const char *path, const UsStatus *status)
{
  UsState state = us_status_get_state (status);

  output_request (cli->json, path, state, status);
  return exit_for_state (state);
}

/* What the command line asks for; NULL with an error. */
static UsSubmission *
build_submission (Cli *cli, char **args, GError **error)
{
  g_autoptr (GVariant) action = NULL;
  g_autoptr (UsSubmission) submission = NULL;
  g_autofree char *supersedes = NULL;

  /* What is wrong in itself is said before anybody is asked. */
  if (!arguments_check ((const char *const *) args + 1, error))
    return NULL;
  if (cli->supersedes != NULL && (supersedes = request_path (cli->supersedes, error)) == NULL)
    return NULL;
  action = us_client_describe_action (cli->client, args[0], NULL, error);
  if (action == NULL)
    return NULL;
  submission = us_submission_new (args[0]);
  if (!arguments_add (submission, action, (const char *const *) args + 1, error))
    return NULL;
  us_submission_set_claim (submission, cli->claim);
  us_submission_set_idempotency_key (submission, cli->idempotency_key);
  us_submission_set_supersedes (submission, supersedes);
  return g_steal_pointer (&submission);
}

ExitStatus
verb_request (Cli *cli, char **args)
{
  GError *error = NULL;
  g_autoptr (UsSubmission) submission = build_submission (cli, args, &error);
  g_autoptr (UsStatus) status = NULL;
  g_autofree char *run = NULL;
  g_autofree char *path = NULL;
  UsState state;

  if (submission != NULL)
    run = us_client_open_run (cli->client, cli->run, cli->part, NULL, &error);
  if (run != NULL)
    path = us_client_submit (cli->client, run, submission, &state, NULL, &error);
  if (path == NULL)
    return cli_fail (cli, error, NULL);

  if (cli->wait_ms != 0)
    status = us_client_wait (cli->client, path, cli->wait_ms, NULL, &error);
  else
    status = us_client_get_state (cli->client, path, NULL, &error);
  if (status != NULL)
    return report (cli, path, status);
  /* The request was made, whatever happened since: its id must not be lost. */
  if (!cli->json)
    output_request (FALSE, path, state, NULL);
  return cli_fail (cli, error, path);
}

ExitStatus
verb_status (Cli *cli, char **args)
{
  GError *error = NULL;
  g_autofree char *path = request_path (args[0], &error);
  g_autoptr (UsStatus) status = NULL;

  if (path != NULL)
    status = us_client_get_state (cli->client, path, NULL, &error);
  return status != NULL ? report (cli, path, status) : cli_fail (cli, error, path);
}

ExitStatus
verb_wait (Cli *cli, char **args)
{
  GError *error = NULL;
  g_autofree char *path = request_path (args[0], &error);
  g_autoptr (UsStatus) status = NULL;

  if (path != NULL)
    status = us_client_wait (cli->client, path, cli->wait_ms, NULL, &error);
  return status != NULL ? report (cli, path, status) : cli_fail (cli, error, path);
}

ExitStatus
verb_withdraw (Cli *cli, char **args)
{
  GError *error = NULL;
  g_autofree char *path = request_path (args[0], &error);

  if (path == NULL || !us_client_withdraw (cli->client, path, NULL, &error))
    return cli_fail (cli, error, path);
  output_request (cli->json, path, US_STATE_WITHDRAWN, NULL);
  return EXIT_EXECUTED;
}

ExitStatus
verb_list (Cli *cli, char **args)
{
  GError *error = NULL;
  g_autoptr (GVariant) requests = us_client_list_requests (cli->client, NULL, &error);
  const char *path, *action, *state;
  JsonBuilder *builder = NULL;
  GVariantIter iter;

  if (requests == NULL)
    return cli_fail (cli, error, NULL);
  if (cli->json)
    {
      builder = output_object ();
      json_builder_set_member_name (builder, "requests");
      json_builder_begin_array (builder);
    }
  g_variant_iter_init (&iter, requests);
  while (g_variant_iter_next (&iter, "(&o&s&s)", &path, &action, &state))
    if (builder != NULL)
      {
        json_builder_begin_object (builder);
        output_add_string (builder, "request", request_id (path));
        output_add_string (builder, "action", action);
        output_add_string (builder, "state", state);
        json_builder_end_object (builder);
      }
    else
      {
        g_autofree char *text = g_strdup_printf ("%-13s %s", state, action);

        output_line (request_id (path), text);
      }
  if (builder != NULL)
    {
      json_builder_end_array (builder);
      output_finish (builder);
    }
  return EXIT_EXECUTED;
}
