/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One worker process, from its start to its exit status. */
#pragma once

#include "service/executor/executor.h"

G_BEGIN_DECLS

int worker_run (const ExecutorConfig *config);

G_END_DECLS
