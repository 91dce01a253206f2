/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* undersignctl halt, resume, resolve: the administrator's hand on what runs. */
#include "service/base/encode.h"
#include "service/ctl/bus.h"
#include "service/ctl/ctl.h"

#include <string.h>

static gboolean
run_halt (Ctl *ctl, char **arguments, GError **error)
{
  return bus_do (ctl, "Halt", g_variant_new ("(s)", arguments[0]),
                 "halted: nothing is executed until it is resumed", error);
}

static gboolean
run_resume (Ctl *ctl, char **arguments, GError **error)
{
  return bus_do (ctl, "Resume", g_variant_new ("(s)", arguments[0]), "resumed", error);
}

static gboolean
run_resolve (Ctl *ctl, char **arguments, GError **error)
{
  if (!id_is_valid (arguments[0]))
    return ctl_bad_word (ctl, error, "\"%s\" is no request id: 32 lower-case hex digits",
                         arguments[0]);
  if (strcmp (arguments[1], "done") != 0 && strcmp (arguments[1], "failed") != 0)
    return ctl_bad_word (ctl, error, "the outcome is \"done\" or \"failed\", not \"%s\"",
                         arguments[1]);
  return bus_do (ctl, "Resolve", g_variant_new ("(sss)", arguments[0], arguments[1], arguments[2]),
                 "resolved", error);
}

const CtlVerb execution_verbs[] = {
  { "halt", "WHY", "Execute nothing until it is resumed", 1, 1, NULL, run_halt },
  { "resume", "WHY", "Execute again", 1, 1, NULL, run_resume },
  { "resolve", "ID done|failed NOTE", "Say what became of an unknown outcome", 3, 3, NULL,
    run_resolve },
  { NULL, NULL, NULL, 0, 0, NULL, NULL },
};
