/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading a UsSubmission: inside the library only. */
#pragma once

#include "agentlib/lib/undersign.h"

#include <gio/gunixfdlist.h>

G_BEGIN_DECLS

/*
 * submission_body: the parameters of Submit().
 * @out_body: (out) (transfer full)
 * @out_fds: (out) (nullable) (transfer full): the files; NULL where there are none
 */
gboolean submission_body (UsSubmission *submission,
                          const char *run,
                          GVariant **out_body,
                          GUnixFDList **out_fds,
                          GError **error);

G_END_DECLS
