/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests as the broker hands them over, and the record that is rebuilt from them.  The first byte
 * says how many files come along ('a' none, 'b' one, …; 'A' three of 22 MiB; 'U' one without seals).
 * The rest is request and facts, of type REQUEST_TYPE: the bytes of a GVariant, or where it begins with "(" its text.
 * What passes names only what policy knows, and is the same record a second time.
 */
#include "service/base/encode.h"
#include "service/base/fd.h"
#include "service/base/memfd.h"
#include "service/base/wire.h"
#include "service/executor/proposal.h"
#include "service/policy/constraint.h"
#include "tests/fuzz/check-record.h"
#include "tests/fuzz/policy-image.h"
#include "tests/fuzz/refusal.h"

#include "dbus/error.h"
#include "dbus/reason.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define REQUEST_TYPE "(" WIRE_REQUEST WIRE_FACTS ")"
#define HOST "00112233445566778899aabbccddeeff"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* Users in the order in which people_names comes to know them: agent 1000, owner 1001. */
static const char policy_text[] =
    "@modules/null.module\n"
    "[Module]\n"
    "Summary=Do nothing\n"
    "Describe=yes\n"
    "[Setting from]\n"
    "Label=From\n"
    "Type=email\n"
    "@modules/send.module\n"
    "[Module]\n"
    "Summary=Send\n"
    "[Argument to]\n"
    "Types=line\n"
    "OneOf=who\n"
    "[Argument cc]\n"
    "Types=line\n"
    "OneOf=who\n"
    "[Argument why]\n"
    "Types=line\n"
    "OneOf=why\n"
    "@actions/a.f.action\n"
    "[Action]\n"
    "Summary=Send it\n"
    "[Executor]\n"
    "Module=send\n"
    "[Argument to]\n"
    "Label=To\n"
    "Type=line\n"
    "[Argument cc]\n"
    "Label=Copy\n"
    "Type=line\n"
    "[Argument why]\n"
    "Label=Why\n"
    "Type=line\n"
    "@actions/a.b.action\n"
    "[Action]\n"
    "Summary=Do it\n"
    "[Executor]\n"
    "Module=null\n"
    "From=a@example.org\n"
    "[Argument to]\n"
    "Label=To\n"
    "Type=email-list\n"
    "Required=yes\n"
    "MaxItems=2\n"
    "Pattern=.*@example\\.org\n"
    "[Argument mode]\n"
    "Label=Mode\n"
    "Type=choice\n"
    "Choices=soft hard\n"
    "Default=soft\n"
    "[Argument count]\n"
    "Label=Count\n"
    "Type=integer\n"
    "Minimum=1\n"
    "Maximum=9\n"
    "Default=1\n"
    "[Argument urgent]\n"
    "Label=Urgent\n"
    "Type=boolean\n"
    "[Argument fixed]\n"
    "Label=Fixed\n"
    "Type=line\n"
    "Value=so\n"
    "[Argument files]\n"
    "Label=Files\n"
    "Type=file-list\n"
    "[Argument file]\n"
    "Label=File\n"
    "Type=file\n"
    "Required=yes\n"
    "[Fact manager]\n"
    "Label=Manager\n"
    "Type=account\n"
    "@actions/a.c.action\n"
    "[Action]\n"
    "Summary=Undo it\n"
    "Effect=reversible\n"
    "[Executor]\n"
    "Module=null\n"
    "Credential=key\n"
    "@actions/a.d.action\n"
    "[Action]\n"
    "Summary=Look\n"
    "Effect=read\n"
    "[Executor]\n"
    "Module=null\n"
    "[Argument file]\n"
    "Label=File\n"
    "Type=file\n"
    "Required=yes\n"
    "@actions/a.e.action\n"
    "[Action]\n"
    "Summary=Look twice\n"
    "Effect=read\n"
    "[Executor]\n"
    "Module=null\n"
    "[Argument text]\n"
    "Label=Text\n"
    "Type=line\n"
    "[Fact manager]\n"
    "Label=Manager\n"
    "Type=account\n"
    "[Fact deputy]\n"
    "Label=Deputy\n"
    "Type=account\n"
    "@agents/agent.agent\n"
    "[Agent]\n"
    "Summary=An agent\n"
    "User=agent\n"
    "Owner=owner\n"
    "Initiators=helper\n"
    "@rules/all.rule\n"
    "[Rule all]\n"
    "Agents=agent\n"
    "Actions=a.b a.c a.f\n"
    "Decision=ask\n"
    "Passkeys=software\n"
    "Approvers=owner\n"
    "Separation=agent\n"
    "[Rule hard]\n"
    "Agents=agent\n"
    "Actions=a.b\n"
    "When=mode is hard\n"
    "Decision=deny\n"
    "[Rule look]\n"
    "Agents=agent\n"
    "Actions=a.d\n"
    "Decision=allow\n"
    "Limit=5/1d\n"
    "[Rule twice]\n"
    "Agents=agent\n"
    "Actions=a.e\n"
    "When=text not-empty\n"
    "Decision=allow\n"
    "Limit=5/1d\n";

static GVariant *
input_variant (const char *data, gsize size)
{
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GVariant) value = NULL;

  if (size > 0 && data[0] == '(')
    return g_variant_parse (G_VARIANT_TYPE (REQUEST_TYPE), data, data + size, NULL, NULL);
  bytes = g_bytes_new (data, size);
  value = g_variant_ref_sink (
      g_variant_new_from_bytes (G_VARIANT_TYPE (REQUEST_TYPE), bytes, FALSE));
  return g_variant_is_normal_form (value) ? g_steal_pointer (&value) : NULL;
}

static guint
files_number (guint8 letter)
{
  if (letter == 'A')
    return 3;
  return letter == 'U' ? 1 : (guint8) (letter - 'a') % (HANDOVER_MAX_FILES + 1);
}

static int
file_new (gsize len, gboolean sealed)
{
  int fd = memfd_create ("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

  g_assert (fd >= 0 && ftruncate (fd, (off_t) len) == 0);
  if (sealed)
    g_assert (fcntl (fd, F_ADD_SEALS,
                     F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0);
  return fd;
}

/* Nothing of another kind than the argument's passes its constraints. */
static void
check_kinds (const PolicyAction *action)
{
  g_autoptr (JsonTree) truth = json_tree_new_boolean (TRUE);

  for (guint i = 0; i < action->arguments->len; i++)
    {
      const PolicyArgument *argument = g_ptr_array_index (action->arguments, i);

      if (type_wire (argument->type) == TYPE_WIRE_STRING)
        g_assert (!constraint_check (argument, truth, NULL));
    }
}

/* Nothing irreversible passes without asking. */
static void
check_decision (Executor *executor, const Proposal *proposal, const Record *record)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (PolicyDecision) decision = decide (executor, record, &error);

  g_assert ((decision == NULL) == (error != NULL));
  refusal_seen (error);
  if (decision == NULL)
    return;
  g_assert (decision->decision == DECISION_ASK || proposal->action->effect != EFFECT_IRREVERSIBLE);
  g_assert (decision_lifetime (decision) > 0);
  g_assert (decision_lifetime (decision) <= POLICY_LIFETIME_MAX);
}

/* What is decided before its facts are known is decided of the same intent. */
static void
check_draft (Executor *executor, const Proposal *proposal, const Record *record)
{
  g_autoptr (Record) draft = proposal_draft (executor, proposal, NULL);

  g_assert (draft != NULL);
  g_assert (digest_equal (record_intent (draft), record_intent (record)));
}

static void
check_proposal (Executor *executor, const Proposal *proposal, GVariant *facts)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Record) record = proposal_record (executor, proposal, facts, &error);
  g_autoptr (Record) again = proposal_record (executor, proposal, facts, NULL);

  g_assert ((record == NULL) == (error != NULL) && (record == NULL) == (again == NULL));
  g_assert (policy_agent_has_part (proposal->agent, proposal->part));
  g_assert (proposal->action->module != NULL && id_is_valid (proposal->id));
  refusal_seen (error);
  if (record == NULL)
    return;
  g_assert (g_bytes_equal (record_bytes (record), record_bytes (again)));
  g_assert (strcmp (record_action_id (record), proposal->action->id) == 0);
  check_record (record);
  check_draft (executor, proposal, record);
  check_decision (executor, proposal, record);
  check_kinds (proposal->action);
}

static void
propose (Executor *executor, GVariant *request, GVariant *facts, const int *fds, guint n_fds)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Proposal) proposal = proposal_new (executor, request, fds, n_fds, &error);

  g_assert ((proposal == NULL) == (error != NULL));
  refusal_seen (error);
  if (proposal != NULL)
    check_proposal (executor, proposal, facts);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GVariant) input =
      size > 0 ? input_variant ((const char *) data + 1, size - 1) : NULL;
  gboolean large = size > 0 && data[0] == 'A';
  guint n_fds = files_number (size > 0 ? data[0] : 'a');
  g_autoptr (GBytes) image = policy_image (policy_text, strlen (policy_text));
  g_autoptr (GVariant) request = NULL;
  g_autoptr (GVariant) facts = NULL;
  g_autoptr (GError) error = NULL;
  ExecutorConfig config = { .host = HOST, .names = &people_names };
  char fault[] = "none:1: none";
  Executor executor = { .config = &config, .image_fd = -1, .fault = fault };
  int fds[HANDOVER_MAX_FILES] = { -1 };

  if (input == NULL)
    return 0;
  request = g_variant_get_child_value (input, 0);
  facts = g_variant_get_child_value (input, 1);
  for (guint i = 0; i < n_fds; i++)
    fds[i] = file_new (large ? 22 * 1024 * 1024 : i, data[0] != 'U');

  g_assert (proposal_new (&executor, request, fds, n_fds, &error) == NULL);
  g_assert (us_error_has_reason (error, US_REASON_POLICY_INVALID));
  g_clear_error (&error);
  executor.policy = policy_parse (image, &people_names, &error);
  g_assert_no_error (error);
  propose (&executor, request, facts, fds, n_fds);
  policy_free (executor.policy);
  people_forget ();
  for (guint i = 0; i < n_fds; i++)
    fd_clear (&fds[i]);
  return 0;
}
