/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The faults of a set of policy files.  A person who repairs policy wants all of them at once, so
 * loaders add and go on; a set with one fault is refused all the same.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define FAULTS_MAX_REPORTED 100

typedef struct Faults Faults;

Faults *faults_new (void);
void faults_free (Faults *faults);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Faults, faults_free)

/*
 * faults_add:
 * @line: from 1; 0 for what is wrong with the whole file or folder
 * @format: lower case, no final stop; text from a file goes through quote_text()
 */
void faults_add (Faults *faults, const char *path, guint line, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

guint faults_count (const Faults *faults);

/* faults_report: FALSE with US_ERROR_POLICY_INVALID and every fault, by file and line, one a line
 * ("FILE:LINE: text", or "FILE: text"), unless there is none. */
gboolean faults_report (Faults *faults, GError **error);

/* quote_text: 'text' for a message: cut after 80 bytes, everything but printable characters as
 * \xNN, so that neither a file nor an agent can write control characters into a log. */
char *quote_text (const char *text);

/* error_text: the message without the reason that errors of ours start with. */
const char *error_text (const GError *error);

G_END_DECLS
