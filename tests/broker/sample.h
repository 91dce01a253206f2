/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests as the executor would have prepared them, for tests of one part of the broker. */
#pragma once

#include "service/broker/request.h"

#include <glib.h>

G_BEGIN_DECLS

#define SAMPLE_ID "0123456789abcdef0123456789abcdef"
#define SAMPLE_OTHER_ID "fedcba9876543210fedcba9876543210"
#define SAMPLE_RUN "00112233445566778899aabbccddeeff"
#define SAMPLE_AGENT ((uid_t) 2001)
#define SAMPLE_PERSON ((uid_t) 3001)

/* Hooks that count, and persist unless told to fail. */
typedef struct
{
  RequestHooks hooks;
  guint persisted, moved;
  RequestState from; /* of the last move */
  RequestState persisted_state;
  const Request *with; /* what was to be kept with it */
  gboolean fails;
} SampleHooks;

void sample_hooks_init (SampleHooks *hooks);

/* sample_request: in state new, of SAMPLE_AGENT, to be approved by SAMPLE_PERSON with the credential
 * 0x01 0x02 or by uid 3003 with 0x03. */
Request *sample_request (const char *id, const RequestHooks *hooks);
GVariant *sample_raw (const char *id, const char *run);
GVariant *sample_prepared (const char *id, const char *run);
GVariant *sample_requirements (void);

/* sample_quiet: from now on warnings are counted, not printed and not fatal; how many so far. */
void sample_quiet (void);
guint sample_warnings (void);

/* sample_put: the state of a request whose life is not the test's business. */
void sample_put (Request *request, RequestState state);

G_END_DECLS
