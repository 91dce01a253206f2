/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Policy: actions, agents, rules and module manifests, read strictly from root-owned files and
 * snapshotted into one sealed image that every process maps.  undersign-policy(5) is the
 * specification.
 *
 * There is no lookup here that answers "allowed" for something absent.
 */
#pragma once

#include "service/record/record.h"
#include "service/record/type.h"

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

#define POLICY_MAX_IMAGE (16 * 1024 * 1024)
#define POLICY_LIFETIME_DEFAULT 600 /* seconds */
#define POLICY_LIFETIME_MAX (24 * 60 * 60)
#define POLICY_TASKS_DEFAULT 2048
#define POLICY_CPU_WEIGHT_DEFAULT 50

typedef struct Policy Policy;

typedef enum
{
  EFFECT_IRREVERSIBLE, /* the default, so that forgetting to say is the safe side */
  EFFECT_REVERSIBLE,
  EFFECT_READ,
} Effect;

/* Kinds of passkeys, a set of bits; the words of Passkeys= */
typedef enum
{
  PASSKEY_HARDWARE = 1 << 0,
  PASSKEY_UNATTESTED = 1 << 1,
  PASSKEY_SYNCED = 1 << 2,
  PASSKEY_PHONE = 1 << 3,
  PASSKEY_SOFTWARE = 1 << 4,
} PasskeyKinds;

#define PASSKEY_KINDS_DEFAULT                                                                      \
  (PASSKEY_HARDWARE | PASSKEY_UNATTESTED | PASSKEY_SYNCED | PASSKEY_PHONE)

gboolean passkey_kind_parse (const char *word, PasskeyKinds *out_kind);
const char *passkey_kind_name (PasskeyKinds kind);

/* Who a rule keeps from approving, besides the agent itself, which is always kept out. */
typedef enum
{
  SEPARATION_AGENT = 1 << 0,
  SEPARATION_OWNER = 1 << 1,
  SEPARATION_INITIATOR = 1 << 2,
} Separation;

typedef struct
{
  char *name;
  char *label;
  const Type *type;
  gboolean required;
  JsonTree *fallback; /* Default=, or the empty value; NULL where the type has none */
  JsonTree *constant; /* Value=: shown, never settable; NULL where there is none */
  /* constraints, each NULL or 0 where absent: Pattern= (a POSIX extended regular expression that
   * must match the whole of each item), Minimum= Maximum= MaxItems= Choices= */
  char *pattern, *minimum, *maximum;
  struct Pattern *compiled; /* of @pattern */
  guint max_items;
  char **choices;
} PolicyArgument;

typedef struct
{
  char *name, *label;
  const Type *type;
  gboolean recheck;
} PolicyFact;

typedef struct
{
  char *name, *label;
  const Type *type;
  JsonTree *value;
} PolicySetting;

typedef struct
{
  char *id, *summary;
  Effect effect;
  GPtrArray *arguments;      /* PolicyArgument, in file order */
  GPtrArray *one_of;         /* GStrv: of these arguments at least one must not be empty */
  GPtrArray *facts;          /* PolicyFact */
  char *module, *credential; /* "" where the module needs no credential */
  char *read_credential;     /* (nullable): DescribeCredential=, a read-only one for describe */
  GPtrArray *settings;       /* PolicySetting, in the order of the module's manifest */
} PolicyAction;

/* What each command that undersign-launcher starts as the agent may use at most: [Launch]. */
typedef struct
{
  guint64 memory_max;  /* bytes; 0 where the file does not say: half of the machine's */
  guint tasks_max;     /* processes and threads */
  guint cpu_weight;    /* against the 100 of a service */
  guint64 runtime_max; /* seconds; 0: for as long as it likes */
} PolicyLaunch;

typedef struct
{
  char *name, *summary, *user, *owner;
  uid_t uid, owner_uid; /* as they were when the set was resolved */
  PolicyLaunch launch;
  char **parts;      /* never NULL; without Parts= just "main" */
  char **initiators; /* user names */
  uid_t *initiator_uids; /* of each, as of uid and owner_uid */
} PolicyAgent;

typedef struct
{
  guint64 count, period; /* at most @count in @period seconds */
  char *per;             /* (nullable): counted by the value of this argument */
  gboolean all_agents;
} PolicyLimit;

/* One matching ask rule: one requirement, satisfied by @count persons of its own. */
typedef struct
{
  char *rule;       /* "offboarding.rule:mail" */
  char **approvers; /* user names, @groups, fact:NAME */
  Separation separation;
  PasskeyKinds passkeys;
  guint count;
} PolicyRequirement;

typedef enum
{
  DECISION_DENY,
  DECISION_ASK,
  DECISION_ALLOW,
} Decision;

typedef struct
{
  Decision decision;
  char *reason;            /* of a denial: denied-by-rule, no-rule, no-initiator, not-agent,
                            * unknown-action or unknown-part */
  char *rule;              /* (nullable): the rule that denied */
  GPtrArray *requirements; /* PolicyRequirement; empty unless ask */
  GPtrArray *limits;       /* PolicyLimit of every matching ask or allow rule */
  guint64 lifetime;        /* seconds: the least of the matching ask rules; else the default */
} PolicyDecision;

void policy_decision_free (PolicyDecision *decision);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PolicyDecision, policy_decision_free)

/* --- snapshot and load --- */

/* A file of the configuration, before it is written. */
typedef struct
{
  const char *folder; /* "agents" */
  const char *name;   /* without the suffix */
  const char *text;
} PolicyPlanned;

typedef struct
{
  const char *data_dir;   /* /usr/share/undersign */
  const char *config_dir; /* /etc/undersign; may be absent */
  const char *module_dir; /* where NAME.so of a module is, whose digest governs its actions */
  uid_t owner;            /* besides root, of every file and folder: 0; tests use their own uid */
  /* for a check before installation: @config_dir is a tree being prepared, which may bring
   * manifests of its own; modules need not be installed, and it is @data_dir that may be absent */
  gboolean staging;
  /* for a check by somebody who can read more than the executor: what its user, whose primary
   * group this is, could not read is a fault; of a tree being prepared, only what is in it */
  gboolean must_be_readable;
  gid_t reader_group;
  /* for a check before they are written: (nullable): up to one without a name; each stands for what
   * has its name on the disk */
  const PolicyPlanned *planned;
} PolicySource;

/*
 * policy_snapshot: reads every file once, in sorted order, refusing all but regular files owned by
 * @source->owner that nobody else may write.
 *
 * Returns: (transfer full): the image (a GVariant in normal form as bytes), or NULL with
 *   US_ERROR_POLICY_INVALID; nothing is parsed yet.
 */
GBytes *policy_snapshot (const PolicySource *source, GError **error);

/* Names to ids and back; a test passes its own.  Each returns FALSE where there is no such name. */
typedef struct
{
  gboolean (*user_by_name) (const char *name, uid_t *out_uid);
  gboolean (*user_by_uid) (uid_t uid, char **out_name);
  gboolean (*user_in_group) (const char *user, const char *group);
} PolicyNames;

/* getpwnam_r, getpwuid_r and, in a child that is killed when it is late, getgrouplist: a process
 * with threads must not ask for groups. */
extern const PolicyNames policy_names_system;
/* Every name is a user of a uid made up for it; for checking a tree away from its users. */
extern const PolicyNames policy_names_invented;

/*
 * policy_resolve: @image with what @names say of each user that it names.  Whoever parses that looks
 * none up.
 * Returns: (transfer full)
 */
GBytes *policy_resolve (GBytes *image, const PolicyNames *names);

/*
 * policy_parse:
 * @names: looks up the users of an image that is not resolved; and, when they are asked about, persons
 *
 * Returns: (transfer full): the policy, or NULL with US_ERROR_POLICY_INVALID whose message holds
 *   every fault found, one "FILE:LINE: text" a line.  One fault refuses the whole set.
 */
Policy *policy_parse (GBytes *image, const PolicyNames *names, GError **error);
void policy_free (Policy *policy);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Policy, policy_free)

/* --- lookup: NULL means there is none, which is a denial --- */

const PolicyAgent *policy_agent_by_uid (const Policy *policy, uid_t uid);
const PolicyAgent *policy_agent_by_name (const Policy *policy, const char *name);
const PolicyAction *policy_action (const Policy *policy, const char *id);
gboolean policy_agent_has_part (const PolicyAgent *agent, const char *part);

/* policy_actions_of: (transfer container) (element-type PolicyAction): those for which some rule
 * other than deny names this agent, sorted by id. */
GPtrArray *policy_actions_of (const Policy *policy, const PolicyAgent *agent);

/*
 * policy_agent_check: before a request of this agent is decided: the users that it runs as and acts for
 * are, by name and uid, still those that the set was resolved with.
 * Returns: FALSE with US_ERROR_POLICY_INVALID, as where the set itself does not load.
 */
gboolean policy_agent_check (const Policy *policy, const PolicyAgent *agent, GError **error);

/* policy_agents: (transfer container) (element-type PolicyAgent): all of them, sorted by name. */
GPtrArray *policy_agents (const Policy *policy);

/*
 * policy_foresee: what could come of a request of this agent for this action, conditions left
 * aside.  Where it is neither, policy_decide() denies whatever is asked for.
 * @out_ask, @out_allow: (out): whether some rule would have a person asked, or let it through
 */
void policy_foresee (const Policy *policy,
                     const PolicyAgent *agent,
                     const PolicyAction *action,
                     gboolean *out_ask,
                     gboolean *out_allow);

/*
 * policy_action_for: NULL with reason unknown-action for all but those that some rule other than
 * deny names for this agent.
 */
const PolicyAction *
policy_action_for (const Policy *policy, const PolicyAgent *agent, const char *id, GError **error);

/*
 * policy_may_deny: whether what policy_decide() says depends on the record: FALSE where a person is
 * asked whatever this agent sends for this action.
 */
gboolean
policy_may_deny (const Policy *policy, const PolicyAgent *agent, const PolicyAction *action);

/* policy_digest: "sha256:…" over what governs this agent's use of this action (see the page). */
char *policy_digest (const Policy *policy, const PolicyAgent *agent, const PolicyAction *action);

typedef struct
{
  guint actions, agents, rules;
} PolicyCounts;

/* policy_count: for a person who asks what is loaded; decides nothing. */
void policy_count (const Policy *policy, PolicyCounts *out_counts);

/* --- arguments --- */

/*
 * policy_bind_arguments: the one decoder of what an agent sent.
 * @arguments: of type a(sv) or a{sv}: untrusted, may repeat a key
 *
 * Returns: (transfer full) (element-type JsonTree): the values in the order of @action->arguments,
 *   defaults and constants filled in; or NULL with reason unknown-argument, duplicate-argument,
 *   missing-argument, constant-argument or those of type_from_variant().  A handle that no
 *   argument used is bad-handle.
 */
GPtrArray *policy_bind_arguments (const PolicyAction *action,
                                  GVariant *arguments,
                                  const TypeFile *files,
                                  guint n_files,
                                  GError **error);

/*
 * policy_record_begin: a record with all that comes from policy and the arguments; without run,
 * facts, claim and policy digest.
 * @values: as policy_bind_arguments() gave them
 */
RecordBuilder *policy_record_begin (const char *host,
                                    const PolicyAgent *agent,
                                    const char *part,
                                    const PolicyAction *action,
                                    const GPtrArray *values);

/* --- decision --- */

/*
 * policy_decide: deny beats ask beats allow, no match is a denial.  @record carries agent, action,
 * arguments and facts.  Limits are returned, not counted: the ledger counts.
 */
PolicyDecision *policy_decide (const Policy *policy, const Record *record);

/* policy_decision_check: FALSE with US_ERROR_REFUSED where it is a denial, as an agent reads it. */
gboolean
policy_decision_check (const PolicyDecision *decision, const Record *record, GError **error);

/*
 * policy_check_denied: what can be said without a record, for an agent that has this part.
 * Returns: FALSE, with the error of policy_decision_check(), where policy_decide() denies whatever the
 *   arguments and facts are, since the first deny rule for this agent, part and action has no condition
 */
gboolean policy_check_denied (const Policy *policy,
                              const PolicyAgent *agent,
                              const char *part,
                              const PolicyAction *action,
                              GError **error);

/*
 * policy_may_approve: whether a person may satisfy @requirement for @record.
 * @name, @uid: must be each other's in @names
 * @kind: of the passkey, one bit
 *
 * Returns: FALSE with reason agent-uid, identity, credential-kind, no-initiator or not-eligible.
 */
gboolean policy_may_approve (const Policy *policy,
                             const PolicyRequirement *requirement,
                             const Record *record,
                             const char *name,
                             uid_t uid,
                             PasskeyKinds kind,
                             GError **error);

/*
 * policy_may_pause: whether a person has to do with an agent: is its owner, or listed, by name or
 * group, in Approvers= of some rule that asks and is for this agent.  Who may approve by a fact is
 * known with a request alone.
 */
gboolean
policy_may_pause (const Policy *policy, const PolicyAgent *agent, const char *name, uid_t uid);

/* policy_uid_is_barred: root, nobody, an agent's uid, a user of the service, or nobody's uid at
 * all: may not be enrolled. */
gboolean policy_uid_is_barred (const Policy *policy, uid_t uid);

G_END_DECLS
