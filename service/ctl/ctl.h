/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * undersignctl, the administrator's command.  Each verb is a row of a table in the file of its
 * group; it talks to org.undersign1.Admin or, offline, to the policy reader.
 */
#pragma once

#include "service/base/json.h"
#include "service/base/usage.h"

#include <gio/gio.h>
#include <sys/types.h>

G_BEGIN_DECLS

#define CTL_EXIT_DONE 0
#define CTL_EXIT_REFUSED 1 /* or a check that found a fault */
#define CTL_EXIT_USAGE USAGE_STATUS /* the command line, or a word in it */
#define CTL_EXIT_UNREACHABLE 127

typedef struct
{
  const char *address;  /* (nullable): of the bus; NULL is the system bus */
  uid_t admin_uid;      /* who must own org.undersign1.Admin */
  const char *data_dir; /* of an installation */
  const char *config_dir;
  const char *module_dir;
  uid_t policy_owner;
  const char *sysusers_dir; /* where an administrator's users are written down */
  const char *sysusers;     /* systemd-sysusers */
  const char *userdel;      /* for a user that was made a moment ago */
  const char *bin_dir;      /* where the programs that setup runs are looked for first */
  const char *undersign;    /* the person's command, which has a terminal passed on */
} CtlConfig;

typedef struct
{
  const CtlConfig *config;
  gboolean json;
  GDBusConnection *bus; /* (nullable): once it was needed */
  char *owner;          /* (nullable): unique name of the service */
  gboolean bad_word;    /* ctl_bad_word() was called */
} Ctl;

typedef struct
{
  const char *name;      /* "policy check" */
  const char *arguments; /* "[DIR]", "" for none */
  const char *summary;   /* one line */
  guint min, max;        /* how many arguments */
  const GOptionEntry *options;
  /* Returns FALSE with a US_ERROR, or after having printed what it found, with none. */
  gboolean (*run) (Ctl *ctl, char **arguments, GError **error);
} CtlVerb;

/* Each ends with a row whose name is NULL. */
extern const CtlVerb status_verbs[];
extern const CtlVerb policy_verbs[];
extern const CtlVerb audit_verbs[];
extern const CtlVerb execution_verbs[];
extern const CtlVerb stats_verbs[];
extern const CtlVerb passkey_verbs[];
extern const CtlVerb credential_verbs[];
extern const CtlVerb agent_verbs[];
extern const CtlVerb setup_verbs[];

/* ctl_bad_word: for a verb that is given a word that can't be what it must be, before it does
 * anything: FALSE with bad-value, and CTL_EXIT_USAGE.  @format should hold the word. */
gboolean ctl_bad_word (Ctl *ctl, GError **error, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* ctl_run: the exit status. */
int ctl_run (const CtlConfig *config, int argc, char **argv);

G_END_DECLS
