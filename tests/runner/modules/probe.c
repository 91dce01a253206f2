/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A module for tests: it says in its result what it was given and where it runs.  The action id
 * chooses: probe.arguments, probe.credential, probe.environment, probe.long, probe.invalid,
 * probe.nothing.
 */
#include "service/abi/undersign-module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

US_SM_DEFINE_ABI

static char text[8192];

static void
add (const char *word)
{
  size_t len = strlen (text);

  snprintf (text + len, sizeof text - len, "%s|", word);
}

static void
add_number (long number)
{
  char word[32];

  snprintf (word, sizeof word, "%ld", number);
  add (word);
}

/* Every getter for every name: only the one of its kind may answer. */
static void
say_arguments (us_sm_handle *handle)
{
  const char *name = NULL;

  for (size_t i = 0; (name = us_sm_argument_name (handle, i)) != NULL; i++)
    {
      size_t count = 77;
      const char *string = us_sm_string (handle, name);
      const char *const *strings = us_sm_strings (handle, name, &count);
      const struct us_sm_file *files = us_sm_files (handle, name, strings ? NULL : &count);

      add (name);
      add (string != NULL ? string : "-");
      add_number (us_sm_boolean (handle, name));
      add_number ((long) count);
      for (size_t j = 0; strings != NULL && j < count; j++)
        add (strings[j]);
      if (strings != NULL && strings[count] != NULL)
        add ("not terminated");
      for (size_t j = 0; files != NULL && j < count; j++)
        {
          char content[64] = "";

          add (files[j].name);
          add_number ((long) files[j].size);
          add (pread (files[j].fd, content, sizeof content - 1, 0) >= 0 ? content : "unreadable");
        }
    }
  for (size_t i = 0; (name = us_sm_setting_name (handle, i)) != NULL; i++)
    {
      add (name);
      add (us_sm_setting (handle, name));
    }
  add (us_sm_setting (handle, "absent") == NULL ? "no setting" : "a setting");
  add (us_sm_string (handle, "absent") == NULL ? "no argument" : "an argument");
  add_number (us_sm_boolean (handle, "absent"));
  add (us_sm_request (handle));
  add (us_sm_action (handle));
}

static void
say_environment (void)
{
  char cwd[64] = "";

  for (char **variable = environ; *variable != NULL; variable++)
    {
      const char *equals = strchr (*variable, '=');
      char name[64] = "";

      if (equals != NULL && (size_t) (equals - *variable) < sizeof name)
        memcpy (name, *variable, (size_t) (equals - *variable));
      add (name);
    }
  add (getcwd (cwd, sizeof cwd) != NULL ? cwd : "?");
  add (dlsym (RTLD_DEFAULT, "us_sm_string") != NULL ? "exported" : "not exported");
  add (dlsym (RTLD_DEFAULT, "handle_new") != NULL ? "exported" : "not exported");
  add (dlsym (RTLD_DEFAULT, "secret_data") != NULL ? "exported" : "not exported");
}

US_SM_EXPORT int
us_sm_execute (us_sm_handle *handle)
{
  const char *action = us_sm_action (handle);
  size_t size = 77;

  if (strcmp (action, "probe.arguments") == 0)
    say_arguments (handle);
  else if (strcmp (action, "probe.environment") == 0)
    say_environment ();
  else if (strcmp (action, "probe.credential") == 0)
    {
      add (us_sm_credential (handle, &size) != NULL ? us_sm_credential (handle, NULL) : "none");
      add_number ((long) size);
    }
  else if (strcmp (action, "probe.long") == 0)
    for (int i = 0; i < 900; i++)
      strcat (text, "\xc3\xbc");
  else if (strcmp (action, "probe.invalid") == 0)
    {
      strcpy (text, "a\xff\xfe");
      for (int i = 0; i < 990; i++)
        strcat (text, "\xff");
    }
  else if (strcmp (action, "probe.nothing") == 0)
    return US_SM_DONE;
  us_sm_set_result (handle, "an earlier word");
  us_sm_set_result (handle, text);
  return US_SM_DONE;
}

/* Facts: each in turn, what came of it in the result. */
US_SM_EXPORT int
us_sm_describe (us_sm_handle *handle)
{
  add_number (us_sm_add_fact (handle, "undeclared", "x"));
  add_number (us_sm_add_fact (handle, "number", "007"));
  add_number (us_sm_add_fact (handle, "number", "7"));
  add_number (us_sm_add_fact (handle, "number", "8"));
  add_number (us_sm_add_fact (handle, "line", "two\nlines"));
  add_number (us_sm_add_fact (handle, "line", "\xff"));
  add_number (us_sm_add_fact (handle, "line", "one line"));
  add (us_sm_credential (handle, NULL) != NULL ? "credential" : "none");
  us_sm_set_result (handle, text);
  return US_SM_DONE;
}
