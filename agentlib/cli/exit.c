/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The two tables that end in an exit status.  0 means that the action ran; nothing that is absent,
 * late or unknown may lead there.
 */
#include "agentlib/cli/exit.h"

ExitStatus
exit_for_state (UsState state)
{
  switch (state)
    {
    case US_STATE_DONE:
      return EXIT_EXECUTED;
    case US_STATE_DENIED:
      return EXIT_DENIED;
    case US_STATE_PENDING:
    case US_STATE_APPROVED:
    case US_STATE_EXECUTING:
      return EXIT_PENDING;
    case US_STATE_WITHDRAWN:
    case US_STATE_SUPERSEDED:
      return EXIT_DISMISSED;
    case US_STATE_EXPIRED:
      return EXIT_EXPIRED;
    case US_STATE_REFUSED:
    case US_STATE_UNREACHABLE:
      return EXIT_REFUSED;
    case US_STATE_FAILED:
      return EXIT_MODULE_FAILED;
    case US_STATE_UNKNOWN:
    case US_STATE_N:
    default:
      return EXIT_UNKNOWN;
    }
}

ExitStatus
exit_for_error (const GError *error)
{
  if (error->domain != US_ERROR)
    return EXIT_UNREACHABLE;

  switch ((UsError) error->code)
    {
    case US_ERROR_INVALID_ARGUMENT:
    case US_ERROR_UNKNOWN_ACTION:
    case US_ERROR_NOT_FOUND:
      return EXIT_USAGE;
    case US_ERROR_NOT_AGENT:
    case US_ERROR_NOT_APPROVER:
    case US_ERROR_WRONG_STATE:
    case US_ERROR_LIMIT_EXCEEDED:
    case US_ERROR_REFUSED:
    case US_ERROR_NO_APPROVER:
    case US_ERROR_PAUSED:
    case US_ERROR_HALTED:
    case US_ERROR_POLICY_INVALID:
      return EXIT_REFUSED;
    case US_ERROR_WRONG_ASSERTION:
    case US_ERROR_UNAVAILABLE:
    case US_ERROR_N:
    default:
      return EXIT_UNREACHABLE;
    }
}
