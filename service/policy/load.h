/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of this folder share and nobody else sees: the loaded set behind a Policy, and the
 * loaders, one a kind of file.  They run in the order of Folder, so that each finds what it refers
 * to; each adds its faults and goes on.
 */
#pragma once

#include "service/policy/fault.h"
#include "service/policy/image.h"
#include "service/policy/keyfile.h"
#include "service/policy/policy.h"
#include "service/policy/when.h"

#include <glib.h>

G_BEGIN_DECLS

#define POLICY_MAX_WORDS 256   /* of a list: agents, actions, approvers, globs */
#define POLICY_MAX_LABEL 80    /* bytes of Label= */
#define POLICY_MAX_SUMMARY 200 /* bytes of Summary= */
#define POLICY_MAX_MEMBERS 64  /* settings of a module, facts of an action */
#define POLICY_MAX_COUNT 16    /* Count= */

typedef struct
{
  char *name, *key; /* "reply-to" and "ReplyTo" */
  char *label;
  const Type *type;
  gboolean required;
  JsonTree *fallback;
} ManifestSetting;

/* An argument that the module takes. */
typedef struct
{
  char *name;
  char **types; /* its type is one of these */
  gboolean required;
  char *one_of; /* (nullable): of the arguments with the same word at least one is not empty */
} ManifestArgument;

typedef struct
{
  char *name, *summary;
  gboolean describes;
  GPtrArray *arguments; /* ManifestArgument; none: it takes whatever an action has */
  GPtrArray *settings; /* ManifestSetting, in file order */
  const ImageFile *file;
  const ImageModule *object; /* NULL where the shared object is not there */
} Manifest;

typedef struct
{
  PolicyAction action;
  const ImageFile *file;
  const Manifest *manifest;
} ActionEntry;

typedef struct
{
  PolicyAgent agent;
  const ImageFile *file;
  guint owner_line, initiators_line;
} AgentEntry;

typedef struct
{
  char *id; /* "offboarding.rule:mail" */
  const ImageFile *file;
  guint order;    /* among all rules: by file name, then as written */
  char **agents;  /* "*" alone: every agent */
  char **actions; /* ids, "PREFIX.*", or "*" alone */
  char **parts;   /* NULL: every part */
  Decision decision;
  GPtrArray *when; /* When: all must hold */
  char **approvers;
  Separation separation;
  PasskeyKinds passkeys;
  guint count;
  guint64 lifetime;
  GPtrArray *limits; /* PolicyLimit */
} Rule;

struct Policy
{
  PolicyNames names;
  Image *image;
  GHashTable *modules; /* name → Manifest */
  GHashTable *actions; /* id → ActionEntry */
  GHashTable *agents;  /* name → AgentEntry */
  GHashTable *uids;    /* uid → AgentEntry */
  GHashTable *users;   /* name of the user that an agent runs as → AgentEntry */
  GPtrArray *rules;    /* Rule */
  /* what a lookup needs: "AGENT ACTION" → GPtrArray of Rule, AGENT → those with a pattern; "*" is
   * an agent here */
  GHashTable *exact;
  GHashTable *patterns;
};

typedef struct
{
  Policy *policy;
  const PolicyNames *names;
  Faults *faults;
  GHashTable *users; /* name → what loader.c knows of it: each is looked up once */
  GHashTable *unread; /* (nullable): of a snapshot with faults */
} Loader;

/* --- loaders (load-*.c) --- */

/* What may stand in each kind of file, by Folder. */
extern const SectionSpec module_schema[], action_schema[], agent_schema[], rule_schema[];

void load_module (Loader *loader, const ImageFile *file);
void load_action (Loader *loader, const ImageFile *file);
void load_agent (Loader *loader, const ImageFile *file);
void load_rules (Loader *loader, const ImageFile *file);
/* load_check_people: what can be said only when every agent is known: nobody named as a person is
 * an agent's user. */
void load_check_people (Loader *loader);

/* --- shared by loaders (loader.c) --- */

/* loader_is_broken: whether there is such a file; where it did not load, its own faults say enough.
 */
gboolean loader_is_broken (const Loader *loader, Folder folder, const char *name);

/* loader_is_unread: whether it could not be read, in a folder by its name or OBJECTS, which is a fault
 * of its own. */
gboolean loader_is_unread (const Loader *loader, const char *folder, const char *name);
/* loader_has_unread: whether that is so of anything in the folder. */
gboolean loader_has_unread (const Loader *loader, Folder folder);
/* loader_has_broken_agent: whether some agent file did not load. */
gboolean loader_has_broken_agent (const Loader *loader);

/* load_type: the type that Type= names; NULL with a fault. */
const Type *load_type (Loader *loader, const KeyFile *file, const KeySection *section);
/* load_text: a copy of a text for people, at most @max bytes; NULL with a fault. */
char *load_text (
    Loader *loader, const KeyFile *file, const KeySection *section, const char *key, gsize max);
/* load_value: the value that @key spells; NULL with a fault, or where the key is absent. */
JsonTree *load_value (Loader *loader,
                      const KeyFile *file,
                      const KeySection *section,
                      const char *key,
                      const Type *type,
                      const char *name);
/* load_number: 1 to @max; 0 with a fault. */
guint load_number (Loader *loader, const KeyFile *file, const KeyEntry *entry, guint max);
/* load_fault: a fault whose text is @error's, without its reason. */
void load_fault (Loader *loader, const KeyFile *file, guint line, const GError *error);
/* loader_find_user: FALSE where there is none. */
gboolean loader_find_user (Loader *loader, const char *name, uid_t *out_uid);
/* load_user: name and uid are each other's; FALSE with a fault. */
gboolean load_user (Loader *loader,
                    const KeyFile *file,
                    guint line,
                    const char *key,
                    const char *name,
                    uid_t *out_uid);

/* --- with faults (snapshot.c, load.c) --- */

/* The folder of shared objects in @unread of snapshot_take(). */
#define OBJECTS "objects"

/*
 * snapshot_take: what could be read.
 * @unread: (nullable): gets "FOLDER/NAME" of each file that could not, "FOLDER/" of each folder
 * Returns: (transfer full): the image, or NULL with a fault.
 */
GBytes *snapshot_take (const PolicySource *source, Faults *faults, GHashTable *unread);
/* load_image: NULL where there is a fault, from before or now. */
Policy *
load_image (GBytes *bytes, const PolicyNames *names, Faults *faults, GHashTable *unread);

/* load_users_new: for @users of load_decoded(), which gets what was looked up: name → ImageUser and more. */
GHashTable *load_users_new (void);
/* load_decoded: @image is (transfer full); as load_image(). */
Policy *load_decoded (
    Image *image, const PolicyNames *names, Faults *faults, GHashTable *unread, GHashTable *users);

/* action_argument: the argument of that name, or NULL (lookup.c). */
const PolicyArgument *action_argument (const PolicyAction *action, const char *name);

void manifest_free (Manifest *manifest);
void action_entry_free (ActionEntry *entry);
void agent_entry_free (AgentEntry *entry);
void rule_free (Rule *rule);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Manifest, manifest_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ActionEntry, action_entry_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AgentEntry, agent_entry_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Rule, rule_free)

/* --- rules (rule.c) --- */

/* rule_index: makes a rule known to lookups. */
void rule_index (Policy *policy, Rule *rule);
/* rules_of: (transfer container): rules whose Agents and Actions match, in their order. */
GPtrArray *rules_of (const Policy *policy, const char *agent, const char *action);
/* action_pattern_matches: @pattern is an id, "PREFIX.*" or "*". */
gboolean action_pattern_matches (const char *pattern, const char *action);
gboolean is_action_pattern (const char *word);
/* rule_is_about: whether its Agents= names @agent, or all. */
gboolean rule_is_about (const Rule *rule, const char *agent);

/* --- identity (identity.c) --- */

/* identity_holds: whether name and uid are each other's now. */
gboolean identity_holds (const Policy *policy, const char *name, uid_t uid);
/* user_is_agents: by uid as it was when the set was resolved, and by name, which a file says: a user who
 * was given another uid since is an agent's still. */
gboolean user_is_agents (const Policy *policy, const char *name, uid_t uid);
/* uid_is_nobody: the overflow uid, which stands for whoever has no other here, and (uid_t) -1. */
gboolean uid_is_nobody (uid_t uid);

G_END_DECLS
