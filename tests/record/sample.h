/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A record with one of everything, for the tests of the record layer. */
#pragma once

#include "service/record/record.h"

#include <glib.h>

#define SAMPLE_HOST "00112233445566778899aabbccddeeff"
#define SAMPLE_RUN "0123456789abcdef0123456789abcdef"
#define SAMPLE_POLICY "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define SAMPLE_SHA256 "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"

/* sample_envelope: a builder with all but arguments, facts, executor and claim. */
RecordBuilder *sample_envelope (void);

/* sample_builder: everything but the last word: end it, or add to it. */
RecordBuilder *sample_builder (void);
Record *sample_record (void);

/* sample_with: one `line` argument alone, named "arg"; @type and @json are its type and value. */
Record *sample_with (const char *type, const char *json, GError **error);

JsonTree *sample_json (const char *json);
GBytes *sample_bytes (const char *text);

/* sample_replace: the sample's bytes, @from replaced once by @to; aborts where @from is not there. */
GBytes *sample_replace (const char *from, const char *to);
