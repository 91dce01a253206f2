/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The details of a card as the service gives them, for tests to spoil one at a time. */
#pragma once

#include "service/record/record.h"
#include "service/record/statement.h"

#include <glib.h>

#define TEST_REQUEST "00112233445566778899aabbccddeeff"
#define TEST_SUPERSEDED "ffeeddccbbaa99887766554433221100"
#define TEST_RP "undersign:00112233445566778899aabbccddeeff"
#define TEST_EXPIRES "2099-11-30T09:10:00Z"
#define TEST_ISSUED "2026-11-30T09:00:00Z"

/* test_details: a whole dictionary for @record, its one credential being @credential of @kind. */
GVariantDict *test_details (const Record *record, GBytes *credential, const char *kind);

/* test_statement: what a right service would have signed; @change (nullable) spoils it first. */
GBytes *test_statement (const Record *record,
                        const Record *superseded,
                        GBytes *credential,
                        const char *user,
                        guint32 uid,
                        void (*change) (Statement *statement));
