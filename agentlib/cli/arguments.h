/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The arguments of an action on a command line. */
#pragma once

#include "agentlib/lib/undersign.h"

G_BEGIN_DECLS

/* arguments_check: that each is of that form; asks nobody. */
gboolean arguments_check (const char *const *words, GError **error);

/*
 * arguments_add: adds what the command line says to @submission, by the types of the action.
 * @description: what DescribeAction() replied
 * @words: NAME=VALUE and NAME@=FILE; a list's name once for each item; a boolean is yes or no
 *
 * Returns: FALSE with US_ERROR_INVALID_ARGUMENT, which names the argument; or G_FILE_ERROR.
 */
gboolean arguments_add (UsSubmission *submission,
                        GVariant *description,
                        const char *const *words,
                        GError **error);

G_END_DECLS
