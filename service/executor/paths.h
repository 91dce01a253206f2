/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Descriptors and words that the processes of the executor agree on. */
#pragma once

#include "service/base/prefork.h"

#define SNAPSHOT_FD PREFORK_FD_SHARED /* of --snapshot: where the image goes */
