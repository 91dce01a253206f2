/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the verbs of undersign(1) share: one file a verb, one function a file. */
#pragma once

#include "module/card/key/key.h"
#include "module/card/tty/terminal.h"
#include "module/card/tty/trust.h"
#include "service/base/json.h"
#include "service/base/usage.h"

#include <glib.h>

G_BEGIN_DECLS

/* The exit status; undersign(1) explains them. */
typedef enum
{
  EXIT_OK = 0,
  EXIT_REFUSED = 1,     /* the service, a check or the system said no: the message says why */
  EXIT_NO_ANSWER = 3,   /* the person gave no answer, or the request ended before */
  EXIT_NOT_DONE = 4,    /* approved, but the action was refused, failed, or nobody knows */
  EXIT_NO_TERMINAL = 5, /* there is no terminal to answer on */
  EXIT_NOT_PROVEN = 6,  /* a receipt holds together, but not every key was given */
  EXIT_USAGE = USAGE_STATUS, /* the command line is wrong; as of undersign-agent(1) */
  EXIT_UNREACHABLE = 127,
} ProgramExit;

/*
 * A verb: @argv holds its name and arguments.
 * Returns: a ProgramExit; where @error is set, its message is printed.
 */
typedef int (*Verb) (const Trust *trust, int argc, char **argv, GError **error);

int verb_pending (const Trust *trust, int argc, char **argv, GError **error);
int verb_show (const Trust *trust, int argc, char **argv, GError **error);
int verb_approve (const Trust *trust, int argc, char **argv, GError **error);
int verb_deny (const Trust *trust, int argc, char **argv, GError **error);
int verb_receipt (const Trust *trust, int argc, char **argv, GError **error);
int verb_launch (const Trust *trust, int argc, char **argv, GError **error);
int verb_watch (const Trust *trust, int argc, char **argv, GError **error);
int verb_passkey (const Trust *trust, int argc, char **argv, GError **error);
int verb_passkey_enrol (const Trust *trust, int argc, char **argv, GError **error);
int verb_passkey_list (const Trust *trust, int argc, char **argv, GError **error);
int verb_passkey_revoke (const Trust *trust, int argc, char **argv, GError **error);

/*
 * program_parse: the options of a verb; --help prints and exits.
 * @usage: of its arguments, e.g. "ID"
 * @arguments: how many must remain
 *
 * Returns: FALSE with US_ERROR_INVALID_ARGUMENT: EXIT_USAGE.
 */
gboolean program_parse (const char *verb,
                        const char *usage,
                        const char *description,
                        const GOptionEntry *entries,
                        guint arguments,
                        int *argc,
                        char ***argv,
                        GError **error);

/* program_dispatch: runs the verb of a table that argv[1] names. */
typedef struct
{
  const char *name;
  Verb verb;
  const char *summary;
} VerbEntry;

int program_dispatch (const char *prefix,
                      const VerbEntry *verbs,
                      const Trust *trust,
                      int argc,
                      char **argv,
                      GError **error);

/* say: a line on standard output; every argument of a %s must be escaped already. */
void say (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* Of the JSON objects; it changes where a member's meaning does. */
#define OUTPUT_VERSION "1"

/* say_json: the canonical bytes of the object @tree, to which it adds the version, and a line feed. */
void say_json (JsonTree *tree);

/* What approve and deny --sign have in common. */
typedef struct
{
  gboolean security;
  char **devices;
} AnswerOptions;

static inline void
answer_options_clear (AnswerOptions *options)
{
  g_clear_pointer (&options->devices, g_strfreev);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AnswerOptions, answer_options_clear)

#define ANSWER_OPTIONS(options) \
  { "security-key", 0, 0, G_OPTION_ARG_NONE, &(options).security, \
    "sign with a security key, not with a passkey that is kept here", NULL }, \
  { "device", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &(options).devices, \
    "sign with the security key at this path", "PATH" }

/*
 * card_deny_signed: shows the card, asks whether it is denied, and why where @reason is NULL, and has
 * that signed.
 * Returns: the status of the program.
 */
int card_deny_signed (const Trust *trust,
                      const AnswerOptions *options,
                      const char *id,
                      const char *reason,
                      GError **error);

/* program_user: the name of this process's user.  (transfer full) (nullable) with an error */
char *program_user (GError **error);

/* program_key: the person's software passkeys; @terminal asks for their passphrases. */
Key *program_key (Terminal **terminal, gboolean files_only, GError **error);

/*
 * program_security_key: the person's security keys; @terminal asks for PINs and touches.
 * @devices: (nullable): paths; borrowed, for as long as the key is there
 * @attested: enrols with the attestation of the maker
 */
Key *program_security_key (Terminal **terminal, const char *const *devices, gboolean attested);

/* How long a key may wait for its person: SECURITY_KEY_TOUCH_MS; for tests, which can't wait so long. */
extern guint program_touch_ms;

G_END_DECLS
