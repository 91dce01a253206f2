/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersign-module.h: the interface between Undersign's runner and a module.
 *
 * A module is a shared object in the manner of PAM.  It owns one kind of effect and the credential
 * for it.  The runner loads it into a process of its own, under a user of its own, makes exactly
 * one call and exits.  Plain C, no library types; everything passed in lives until the entry point
 * returns and must not be freed or changed.
 *
 * A module has no defaults: every argument and setting of its action is present, in canonical form
 * (undersign-record(7)).  It must refuse (US_SM_FAILED) what it does not understand.
 */
#ifndef UNDERSIGN_MODULE_H
#define UNDERSIGN_MODULE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The version of this interface.  A module defines the symbol us_sm_abi_version with
 * US_SM_DEFINE_ABI; the runner reads it from the ELF file before it loads anything.
 */
#define US_SM_ABI_VERSION 1
#define US_SM_DEFINE_ABI                                                                           \
  __attribute__ ((visibility ("default"), used)) const uint32_t us_sm_abi_version =                \
      US_SM_ABI_VERSION;

#define US_SM_EXPORT __attribute__ ((visibility ("default")))

/* One call: what is to be described or done, and where the answer goes.  Opaque. */
typedef struct us_sm_handle us_sm_handle;

/*
 * What an entry point returns.  Anything else, a signal, an exit or a time-out is taken as
 * US_SM_UNKNOWN: never retried, and shown to a person.  us_sm_describe has 20 seconds,
 * us_sm_execute 80 (undersign-runner(8)).
 */
enum us_sm_result
{
  US_SM_DONE = 0,    /* the effect took place; describe: the facts are complete */
  US_SM_FAILED = 1,  /* the module guarantees that there was no effect */
  US_SM_UNKNOWN = 2, /* it may have taken place */
};

/*
 * Entry points; each is optional, a call to an absent one is US_SM_FAILED.
 *
 * us_sm_describe looks facts up, without any effect, for the person to read; it gets no credential
 * unless the action names a separate, read-only one.
 * us_sm_execute has the effect, once.
 */
int us_sm_describe (us_sm_handle *handle);
int us_sm_execute (us_sm_handle *handle);

/* A file argument: the name the agent gave it, and a sealed memfd, positioned anywhere. */
struct us_sm_file
{
  const char *name; /* UTF-8, no slash */
  int fd;           /* read it with pread(2) or mmap(2); do not close it */
  uint64_t size;    /* bytes, fixed by the seals */
};

/* The action id, e.g. "mail.send", and the request id: 32 lower-case hex digits, never used twice. */
const char *us_sm_action (const us_sm_handle *handle);
const char *us_sm_request (const us_sm_handle *handle);

/*
 * Arguments and settings by name.  Each getter returns NULL (or -1) where there is none of that
 * name and kind, which a module must take as a reason to fail.  Strings are UTF-8 without NUL.
 * Of the types of undersign-record(7) us_sm_boolean serves `boolean`, us_sm_files `file`, as a list of
 * one, and `file-list`, us_sm_strings the other lists, and us_sm_string all else: numbers, amounts,
 * times and choices are text in their canonical form.  A setting is text, whatever its type.
 */
const char *us_sm_string (const us_sm_handle *handle, const char *name);
int us_sm_boolean (const us_sm_handle *handle, const char *name); /* 0, 1, or -1 */
/* A NULL-terminated array; out_count may be NULL. */
const char *const *us_sm_strings (const us_sm_handle *handle, const char *name, size_t *out_count);
const struct us_sm_file *us_sm_files (const us_sm_handle *handle, const char *name, size_t *out_count);
const char *us_sm_setting (const us_sm_handle *handle, const char *name);

/*
 * The names of all arguments and settings, in the order of the record; NULL after the last.  A
 * module goes through them to refuse one that it does not know: the person approved it, so leaving
 * it out would be another action.
 */
const char *us_sm_argument_name (const us_sm_handle *handle, size_t index);
const char *us_sm_setting_name (const us_sm_handle *handle, size_t index);

/*
 * The credential that the action names: out_size bytes, followed by a NUL that is not counted;
 * NULL where there is none.  The memory is locked, and wiped when the call ends.  It must not be
 * copied into a result, a message or an environment.
 */
const char *us_sm_credential (const us_sm_handle *handle, size_t *out_size);

/* us_sm_describe: the value of a fact, in canonical form.  Returns 0, or -1 for a name that the
 * action does not declare or a value that its type refuses. */
int us_sm_add_fact (us_sm_handle *handle, const char *name, const char *value);

/* A short text for the person and the agent, no secret; last call wins.  Of more than 1,000 bytes the
 * first are kept, to the end of a character; what is not UTF-8 becomes U+FFFD. */
void us_sm_set_result (us_sm_handle *handle, const char *text);

#ifdef __cplusplus
}
#endif

#endif
