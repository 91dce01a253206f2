/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign-submission.h: what an agent asks for.  Programs include undersign.h.
 */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

/**
 * UsSubmission:
 *
 * An action with its arguments, to be submitted.  The types of the arguments are those that
 * us_client_describe_action() tells.  An argument is added once, all of it.
 */
#define US_TYPE_SUBMISSION (us_submission_get_type ())
G_DECLARE_FINAL_TYPE (UsSubmission, us_submission, US, SUBMISSION, GObject)

/* What the service takes at most: files of a submission, bytes of one, bytes of all. */
#define US_MAX_FILES 16
#define US_MAX_FILE_SIZE (25 * 1024 * 1024)
#define US_MAX_FILES_SIZE (64 * 1024 * 1024)

/**
 * us_submission_new:
 * @action: an action id
 *
 * Returns: (transfer full): a submission without arguments
 */
UsSubmission *us_submission_new (const char *action);

/**
 * us_submission_add_string:
 * @submission: a submission
 * @name: the argument's name
 * @value: valid UTF-8
 * @error: return location
 *
 * For arguments of the signature "s".  This and its sisters fail with
 * %US_ERROR_INVALID_ARGUMENT: duplicate-argument where @name was added before, bad-value where it
 * is no valid text.
 *
 * Returns: %TRUE on success
 */
gboolean us_submission_add_string (UsSubmission *submission,
                                   const char *name,
                                   const char *value,
                                   GError **error);

/**
 * us_submission_add_boolean:
 * @submission: a submission
 * @name: the argument's name
 * @value: the value
 * @error: return location
 *
 * For the signature "b".
 *
 * Returns: %TRUE on success
 */
gboolean us_submission_add_boolean (UsSubmission *submission,
                                    const char *name,
                                    gboolean value,
                                    GError **error);

/**
 * us_submission_add_strings:
 * @submission: a submission
 * @name: the argument's name
 * @values: (array zero-terminated=1): the items, possibly none
 * @error: return location
 *
 * For the signature "as".
 *
 * Returns: %TRUE on success
 */
gboolean us_submission_add_strings (UsSubmission *submission,
                                    const char *name,
                                    const char *const *values,
                                    GError **error);

/**
 * us_submission_add_file:
 * @submission: a submission
 * @name: the argument's name
 * @path: (type filename): a regular file; its last component is the file's name in the record
 * @error: return location
 *
 * For the signature "(sh)".  The content is copied into sealed memory now: what happens to the file
 * later does not matter.  Anything but a regular file is refused with bad-value, one over
 * %US_MAX_FILE_SIZE with too-large, one more than %US_MAX_FILES, or more than %US_MAX_FILES_SIZE
 * together, with limit.  A file that can't be read gives a %G_FILE_ERROR.
 *
 * Returns: %TRUE on success; on failure nothing was added
 */
gboolean us_submission_add_file (UsSubmission *submission,
                                 const char *name,
                                 const char *path,
                                 GError **error);

/**
 * us_submission_add_files:
 * @submission: a submission
 * @name: the argument's name
 * @paths: (array zero-terminated=1) (element-type filename): the files, possibly none
 * @error: return location
 *
 * For the signature "a(sh)"; otherwise as us_submission_add_file().
 *
 * Returns: %TRUE on success
 */
gboolean us_submission_add_files (UsSubmission *submission,
                                  const char *name,
                                  const char *const *paths,
                                  GError **error);

/**
 * us_submission_set_claim:
 * @submission: a submission
 * @claim: (nullable): what the agent says about it, at most 2000 bytes; people see it marked as
 *   unverified
 */
void us_submission_set_claim (UsSubmission *submission, const char *claim);

/**
 * us_submission_set_idempotency_key:
 * @submission: a submission
 * @key: (nullable): 1 to 128 printable ASCII characters without spaces; the same key gives the same
 *   request and its outcome, for good, and of one that was refused what took its place; with another
 *   submission us_client_submit() fails with key-reused
 */
void us_submission_set_idempotency_key (UsSubmission *submission, const char *key);

/**
 * us_submission_set_supersedes:
 * @submission: a submission
 * @request: (nullable): object path of the request to close; its card shows what changed
 */
void us_submission_set_supersedes (UsSubmission *submission, const char *request);

G_END_DECLS
