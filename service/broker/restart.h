/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Taking up, at a start, what was going on.
 */
#pragma once

#include "service/broker/broker.h"

G_BEGIN_DECLS

/* restart_resume: takes up every request that had not ended and is not taken up yet; FALSE where it
 * cannot be told which these are. */
gboolean restart_resume (Broker *broker, GError **error);

G_END_DECLS
