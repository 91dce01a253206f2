/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Policies for the targets that need one, written as one text instead of a folder of files. */
#pragma once

#include "service/policy/policy.h"

#include <glib.h>

/* policy_image: @text: files, each after a line "@FOLDER/NAME.SUFFIX"; "@+…" is one that is shipped.
 * Of each manifest the module is there too, but for "@-modules/…". */
GBytes *policy_image (const char *text, gsize len);

/*
 * Whoever is named exists, but "absent…": root, nobody, and from uid 1000 on the others, in the order
 * in which they are first asked for; "twin" is another name of the first.  people_forget() ends it.
 */
extern const PolicyNames people_names;
guint people_number (void);
const char *people_name (guint i);
void people_forget (void);
