/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Action files: every load error at its line, then what a valid one means. */
#include "tests/policy/set.h"

#include <string.h>

#define HEAD "[Action]\nSummary=S\nEffect=read\n[Executor]\nModule=null\n[Argument a]\nLabel=A\n"
#define MAIL "[Action]\nSummary=S\n[Executor]\nModule=mail\nServer=smtp.example.com:25\n"

/* HEAD ends with line 7, MAIL with line 5. */
static const struct
{
  const char *text;
  guint line;
  const char *says;
} refused[] = {
  { "[Executor]\nModule=null\n", 0, "lacks a section [Action]" },
  { "[Action]\nSummary=S\n", 0, "lacks a section [Executor]" },
  { "[Action]\n[Executor]\nModule=null\n", 1, "[Action] lacks Summary=" },
  { "[Action]\nSummary=S\n[Executor]\n", 3, "[Executor] lacks Module=" },
  { "[Action]\nSummary=S\nEffect=Read\n[Executor]\nModule=null\n", 3, "Effect= is irreversible" },
  { "[Action]\nSummary=S\nEffect=\n[Executor]\nModule=null\n", 3, "Effect= has no value" },
  { "[Action]\nSummary=S\nDecision=allow\n[Executor]\nModule=null\n", 3, "not a key of [Action]" },
  { "[Action]\nSummary=S\n[Rule x]\n[Executor]\nModule=null\n", 3, "'Rule x' is not a section" },
  /* [Argument] */
  { HEAD, 6, "[Argument a] lacks Type=" },
  { HEAD "Type=string\n", 8, "there is no type 'string'" },
  { HEAD "Type=line\nRequired=true\n", 9, "takes yes or no" },
  { HEAD "Type=line\nRequired=yes\nDefault=x\n", 10, "exclude each other" },
  { HEAD "Type=line\nRequired=yes\nValue=x\n", 10, "Value= is a constant" },
  { HEAD "Type=line\nDefault=y\nValue=x\n", 10, "Value= is a constant" },
  { HEAD "Type=file\n", 6, "an argument of type file needs Required=yes" },
  { HEAD "Type=file\nRequired=yes\nPattern=.*\n", 10, "Pattern= does not apply to type file" },
  { HEAD "Type=file-list\nDefault=x\n", 9, "Default= does not apply to type file-list" },
  { HEAD "Type=file-list\nValue=x\n", 9, "Value= does not apply to type file-list" },
  { HEAD "Type=file-list\nPattern=.*\n", 9, "Pattern= does not apply" },
  { HEAD "Type=boolean\nPattern=.*\n", 9, "Pattern= does not apply to type boolean" },
  { HEAD "Type=boolean\nDefault=true\n", 9, "yes or no" },
  { HEAD "Type=integer\nPattern=.*\n", 9, "Pattern= does not apply to type integer" },
  { HEAD "Type=integer\nChoices=1 2\n", 9, "Choices= does not apply to type integer" },
  { HEAD "Type=line\nMinimum=1\n", 9, "Minimum= does not apply to type line" },
  { HEAD "Type=line\nMaximum=1\n", 9, "Maximum= does not apply to type line" },
  { HEAD "Type=line\nMaxItems=1\n", 9, "MaxItems= does not apply to type line" },
  { HEAD "Type=choice\n", 6, "type choice needs Choices=" },
  { HEAD "Type=choice\nChoices=a b a\n", 9, "'a' stands twice" },
  { HEAD "Type=choice\nChoices=a \xc3\xa4\n", 9, "a: not a choice" },
  { HEAD "Type=choice\nChoices=a b\nDefault=c\n", 10, "not one of its choices" },
  { HEAD "Type=integer\nMinimum=x\n", 9, "a: not an integer" },
  { HEAD "Type=integer\nMinimum=05\n", 9, "canonical spelling is \"5\"" },
  { HEAD "Type=integer\nMinimum=5\nMaximum=4\n", 9, "Minimum= is more than Maximum=" },
  { HEAD "Type=money\nMinimum=5.00 EUR\nMaximum=6.00 USD\n", 9, "or not comparable" },
  { HEAD "Type=integer\nMinimum=5\nDefault=4\n", 10, "less than 5" },
  { HEAD "Type=integer\nMaximum=5\nValue=6\n", 10, "more than 5" },
  { HEAD "Type=email-list\nMaxItems=0\n", 9, "a number from 1 to" },
  { HEAD "Type=email-list\nMaxItems=01\n", 9, "a number from 1 to" },
  { HEAD "Type=email-list\nMaxItems=+1\n", 9, "a number from 1 to" },
  { HEAD "Type=email-list\nMaxItems=1001\n", 9, "a number from 1 to" },
  { HEAD "Type=file-list\nMaxItems=17\n", 9, "a number from 1 to 16" },
  { HEAD "Type=email-list\nMaxItems=1\nDefault=a@example.com b@example.com\n", 10,
    "more than 1 items" },
  { HEAD "Type=line\nPattern=(\n", 9, "Pattern= is not valid" },
  { HEAD "Type=line\nPattern=(a)\\1\n", 9, "back reference" },
  { HEAD "Type=line\nPattern=(a{100}){100}\n", 9, "repeats more than" },
  { HEAD "Type=line\nPattern=a{99999999999999999999}\n", 9, "repeats more than" },
  { HEAD "Type=line\nPattern=[a-z]+\nDefault=A\n", 10, "does not match the pattern" },
  { HEAD "Type=line\n[Fact a]\nLabel=A\nType=line\n", 9, "a is an argument too" },
  { HEAD "Type=line\n[Fact b]\nLabel=A\nType=email-list\n", 11, "cannot be of type email-list" },
  { HEAD "Type=line\n[Fact b]\nLabel=A\nType=line\n", 4, "module null looks up no facts" },
  /* [Executor] */
  { "[Action]\nSummary=S\n[Executor]\nModule=nothing\n", 4, "there is no module 'nothing'" },
  { "[Action]\nSummary=S\n[Executor]\nModule=../mail\n", 4, "there is no module '../mail'" },
  { MAIL, 3, "the module needs From=" },
  { MAIL "From=\n", 6, "the module needs From=, which is empty" },
  { MAIL "From=x\n", 6, "from: " },
  { MAIL "From=a@example.com\nPort=25\n", 7, "Port= is not a setting of module mail" },
  { MAIL "From=a@example.com\nReply-To=b@example.com\n", 7, "is not a section, a key" },
  { MAIL "From=a@example.com\nCredential=../x\n", 7, "'../x' is not the name of a credential" },
  { MAIL "From=a@example.com\nCredential=\n", 7, "Credential= has no value" },
  { MAIL "From=a@example.com\nCredential=c\nDescribeCredential=c\n", 8, "must be another" },
  { "[Action]\nSummary=S\n[Executor]\nModule=null\nDescribeCredential=c\n", 3,
    "looks up no facts" },
};

static void
test_refused (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (Set) set = set_new ();
      g_autofree char *where = set_where ("actions/x.y.action", refused[i].line);

      set_put (set, "actions/x.y.action", refused[i].text);
      set_assert_fault (set, where, refused[i].says);
    }
}

static void
test_not_installed (void)
{
  g_autoptr (Set) set = set_new ();

  set_remove_object (set, "mail");
  set_assert_fault (set, "actions/mail.send.action:5: ", "has a manifest but is not installed");
}

/* A fault of a manifest is reported once, not again by every action that needs the module. */
static void
test_no_cascade (void)
{
  g_autoptr (Set) set = set_new ();
  g_autofree char *faults = NULL;

  set_put (set, "modules/mail.module", "[Module]\n");
  set_put (set, "rules/r.rule", "[Rule a]\nAgents=other\nActions=mail.send\nDecision=deny\n");
  faults = set_faults (set);
  g_assert_cmpstr (faults, ==, "modules/mail.module:1: [Module] lacks Summary=");
}

static void
test_too_many (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (GString) text = g_string_new ("[Action]\nSummary=S\n[Executor]\nModule=null\n");

  for (guint i = 0; i < 257; i++)
    g_string_append_printf (text, "[Argument a%u]\nLabel=A\nType=line\n", i);
  set_put (set, "actions/x.y.action", text->str);
  set_assert_fault (set, "actions/x.y.action: ", "more than 256 sections [Argument NAME]");
}

static void
test_values (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = NULL;
  const PolicyAction *action;
  const PolicyArgument *argument;

  set_put (set, "actions/x.y.action",
           "[Action]\nSummary=S\n[Executor]\nModule=null\n"
           "[Argument a]\nLabel=A\nType=line\n"
           "[Argument b]\nLabel=B\nType=email-list\nDefault=a@example.com b@example.com\n"
           "[Argument c]\nLabel=C\nType=boolean\nDefault=yes\n"
           "[Argument d]\nLabel=D\nType=email-list\nValue=\n"
           "[Argument e]\nLabel=E\nType=choice\nChoices=x y\nValue=y\n"
           "[Argument f]\nLabel=F\nType=file\nRequired=yes\n");
  policy = set_parse (set);
  action = policy_action (policy, "x.y");
  g_assert_cmpint (action->effect, ==, EFFECT_IRREVERSIBLE);
  g_assert_cmpstr (action->credential, ==, "");
  g_assert_null (action->read_credential);

  argument = g_ptr_array_index (action->arguments, 0);
  g_assert_cmpstr (json_tree_string (argument->fallback), ==, "");
  argument = g_ptr_array_index (action->arguments, 1);
  g_assert_cmpuint (json_tree_length (argument->fallback), ==, 2);
  argument = g_ptr_array_index (action->arguments, 2);
  g_assert_cmpint (json_tree_kind (argument->fallback), ==, JSON_TREE_BOOLEAN);
  argument = g_ptr_array_index (action->arguments, 3);
  g_assert_cmpuint (json_tree_length (argument->constant), ==, 0);
  g_assert_null (argument->fallback);
  argument = g_ptr_array_index (action->arguments, 4);
  g_assert_cmpstr (json_tree_string (argument->constant), ==, "y");
  argument = g_ptr_array_index (action->arguments, 5);
  g_assert_null (argument->fallback);
  g_assert_true (argument->required);
}

static void
test_effects (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = set_parse (set);

  g_assert_cmpint (policy_action (policy, "mail.send")->effect, ==, EFFECT_IRREVERSIBLE);
  g_assert_cmpint (policy_action (policy, "note.write")->effect, ==, EFFECT_REVERSIBLE);
  g_assert_cmpint (policy_action (policy, "account.list")->effect, ==, EFFECT_READ);
  g_assert_null (policy_action (policy, "mail.sen"));
  g_assert_null (policy_action (policy, ""));
}

static void
test_masked (void)
{
  g_autoptr (Set) set = set_new ();
  g_autoptr (Policy) policy = NULL;

  set_put (set, "actions/mail.send.action", "");
  policy = set_parse (set);
  g_assert_null (policy_action (policy, "mail.send"));
}

/* What the module takes is in its manifest: another argument, another type and one that is not there
 * are found before anybody signs. */
static void
test_module_arguments (void)
{
  static const char manifest[] = "[Module]\nSummary=N\n[Argument to]\nTypes=email-list email\n"
                                 "[Argument body]\nTypes=text\nRequired=yes\n";
  static const char head[] = "[Action]\nSummary=S\nEffect=read\n[Executor]\nModule=null\n";
  static const struct
  {
    const char *text;
    guint line;
    const char *says;
  } rows[] = {
    { "[Argument recipient]\nLabel=A\nType=email\n[Argument body]\nLabel=B\nType=text\n", 6,
      "module null takes no argument recipient; it takes to, body" },
    { "[Argument to]\nLabel=A\nType=line\n[Argument body]\nLabel=B\nType=text\n", 8,
      "module null takes to of type email-list or email, not line" },
    { "[Argument to]\nLabel=A\nType=email\n", 0, "module null needs an argument body" },
    { "", 0, "module null needs an argument body" },
  };
  static const char *const good[] = {
    "[Argument to]\nLabel=A\nType=email\n[Argument body]\nLabel=B\nType=text\n",
    "[Argument body]\nLabel=B\nType=text\nValue=x\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows) + G_N_ELEMENTS (good); i++)
    {
      gboolean bad = i < G_N_ELEMENTS (rows);
      g_autoptr (Set) set = set_new ();
      g_autofree char *text =
          g_strconcat (head, bad ? rows[i].text : good[i - G_N_ELEMENTS (rows)], NULL);
      g_autofree char *where = set_where ("actions/x.y.action", bad ? rows[i].line : 0);
      g_autofree char *faults = NULL;

      set_put (set, "modules/null.module", manifest);
      set_put (set, "actions/x.y.action", text);
      /* those of the base set that are of this module */
      set_put (set, "actions/note.write.action", "");
      set_put (set, "actions/account.list.action", "");
      if (bad)
        set_assert_fault (set, where, rows[i].says);
      faults = set_faults (set);
      g_assert_cmpuint (faults == NULL, !=, bad);
    }
}

/* Of some arguments the module needs one: an action that can't give it is a fault, a request that does
 * not is refused. */
static void
test_one_of (void)
{
  static const char manifest[] =
      "[Module]\nSummary=N\n[Argument to]\nTypes=email-list\nOneOf=recipient\n"
      "[Argument body]\nTypes=text\n[Argument cc]\nTypes=email-list email\nOneOf=recipient\n"
      "[Argument why]\nTypes=line\nOneOf=reason\n";
  static const char head[] = "[Action]\nSummary=S\nEffect=read\n[Executor]\nModule=null\n";
  static const char why[] = "[Argument why]\nLabel=W\nType=line\nRequired=yes\n";
  static const char lacks[] = "module null needs one of these arguments, not empty: to, cc";
  static const struct
  {
    const char *text;
    const char *says;      /* of the file */
    const char *arguments; /* of a request */
    const char *refusal;
  } rows[] = {
    { "", lacks, NULL, NULL },
    { "[Argument body]\nLabel=A\nType=text\n", lacks, NULL, NULL },
    { "[Argument to]\nLabel=A\nType=email-list\nValue=\n", lacks, NULL, NULL },
    { "[Argument to]\nLabel=A\nType=email-list\nValue=a@example.com\n", NULL, "", NULL },
    { "[Argument to]\nLabel=A\nType=email-list\n", NULL, "",
      "missing-argument: argument 'to' is required" },
    { "[Argument to]\nLabel=A\nType=email-list\nValue=\n[Argument cc]\nLabel=B\nType=email\n", NULL,
      "('cc', <''>), ", "missing-argument: argument 'cc' is required" },
    { "[Argument to]\nLabel=A\nType=email-list\n[Argument cc]\nLabel=B\nType=email\n", NULL,
      "('to', <@as []>), ", "missing-argument: one of the arguments to, cc is required" },
    { "[Argument to]\nLabel=A\nType=email-list\n[Argument cc]\nLabel=B\nType=email\n", NULL,
      "('cc', <'a@example.com'>), ", NULL },
    { "[Argument to]\nLabel=A\nType=email-list\nDefault=a@example.com\n", NULL, "", NULL },
    { "[Argument to]\nLabel=A\nType=email-list\nDefault=a@example.com\n", NULL, "('to', <@as []>), ",
      "missing-argument: argument 'to' is required" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (Set) set = set_new ();
      g_autofree char *text = g_strconcat (head, why, rows[i].text, NULL);
      g_autofree char *where = set_where ("actions/x.y.action", 0);
      g_autofree char *all = NULL;
      g_autoptr (Policy) policy = NULL;
      g_autoptr (GVariant) arguments = NULL;
      g_autoptr (GPtrArray) values = NULL;
      g_autoptr (GError) error = NULL;

      g_test_message ("%u", i);
      set_put (set, "modules/null.module", manifest);
      set_put (set, "actions/x.y.action", text);
      set_put (set, "actions/note.write.action", "");
      set_put (set, "actions/account.list.action", "");
      if (rows[i].says != NULL)
        {
          set_assert_fault (set, where, rows[i].says);
          continue;
        }
      policy = set_parse (set);
      all = g_strdup_printf ("[%s('why', <'x'>)]", rows[i].arguments);
      arguments = g_variant_parse (G_VARIANT_TYPE ("a(sv)"), all, NULL, NULL, &error);
      g_assert_no_error (error);
      values = policy_bind_arguments (policy_action (policy, "x.y"), arguments, NULL, 0, &error);
      g_assert_cmpstr (error != NULL ? error->message : NULL, ==, rows[i].refusal);
      g_assert_cmpint (values == NULL, ==, rows[i].refusal != NULL);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/load-action/refused", test_refused);
  g_test_add_func ("/policy/load-action/not-installed", test_not_installed);
  g_test_add_func ("/policy/load-action/no-cascade", test_no_cascade);
  g_test_add_func ("/policy/load-action/too-many", test_too_many);
  g_test_add_func ("/policy/load-action/values", test_values);
  g_test_add_func ("/policy/load-action/effects", test_effects);
  g_test_add_func ("/policy/load-action/masked", test_masked);
  g_test_add_func ("/policy/load-action/module-arguments", test_module_arguments);
  g_test_add_func ("/policy/load-action/one-of", test_one_of);
  return g_test_run ();
}
