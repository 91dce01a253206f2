/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cryptography that is done once in a process: once.c says how. */
#pragma once

/* test_once_clear: at the end of a test program. */
void test_once_clear (void);
