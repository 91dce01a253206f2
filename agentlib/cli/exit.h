/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the exit status says: undersign-agent(1), section EXIT STATUS. */
#pragma once

#include "agentlib/lib/undersign.h"
#include "service/base/usage.h"

G_BEGIN_DECLS

typedef enum
{
  EXIT_EXECUTED = 0, /* or: the verb did what it is for */
  EXIT_DENIED = 1,
  EXIT_PENDING = 2,
  EXIT_DISMISSED = 3,
  EXIT_EXPIRED = 4,
  EXIT_UNKNOWN = 5,
  EXIT_REFUSED = 6,
  EXIT_MODULE_FAILED = 125,
  EXIT_USAGE = USAGE_STATUS,
  EXIT_UNREACHABLE = 127,
} ExitStatus;

ExitStatus exit_for_state (UsState state);
ExitStatus exit_for_error (const GError *error);

G_END_DECLS
