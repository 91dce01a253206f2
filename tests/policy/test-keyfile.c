/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The key-file reader: what it refuses and at which line, then what it reads. */
#include "service/policy/keyfile.h"
#include "service/policy/name.h"

#include "dbus/error.h"
#include "tests/policy/set.h"

#include <string.h>

static const KeySpec pet_keys[] = {
  { "Name", KEY_REQUIRED },     { "Colour", KEY_PLAIN }, { "When", KEY_REPEATABLE },
  { "Note", KEY_MAY_BE_EMPTY }, { NULL, KEY_PLAIN },
};
static const KeySpec home_keys[] = { { "Street", KEY_PLAIN }, { NULL, KEY_PLAIN } };
static const SectionSpec schema[] = {
  { "Home", NULL, SECTION_REQUIRED | SECTION_OPEN, home_keys },
  { "Pet", name_is_member, SECTION_PLAIN, pet_keys },
  { NULL, NULL, SECTION_PLAIN, NULL },
};

/* Every text here is refused; the fault begins with "x:LINE: " and holds @says. */
static const struct
{
  const char *text;
  guint line;
  const char *says;
} refused[] = {
  { "", 0, "lacks a section [Home]" },
  { "# only a comment\n", 0, "lacks a section [Home]" },
  { "[Home]\nStreet=a\nStreet=b\n", 3, "Street= stands twice, first in line 2" },
  { "[Home]\n[Pet a]\nName=x\n[Home]\n", 4, "[Home] stands twice, first in line 1" },
  { "[Home]\n[Pet a]\nName=x\n[Pet a]\nName=y\n", 4, "[Pet a] stands twice" },
  { "[Home]\n[Pet a]\nName=x\nName=x\n", 4, "Name= stands twice" },
  { "[Home]\nFree=1\nFree=2\n", 3, "Free= stands twice" },
  { "[Home]\n[Pet a]\nName=x\nAge=3\n", 4, "Age= is not a key of [Pet]" },
  { "[Home]\n[Pet a]\nname=x\n", 3, "'name=x' is not a section" },
  { "[Home]\n[Pet a]\nColour=red\n", 2, "[Pet a] lacks Name=" },
  { "[Home]\n[Dog a]\n", 2, "'Dog a' is not a section" },
  { "[home]\n", 1, "'home' is not a section" },
  { "[Home x]\n", 1, "section [Home] takes no name" },
  { "[Home ]\n", 1, "section [Home] takes no name" },
  { "[Home]\n[Pet]\n", 2, "section [Pet] needs a name" },
  { "[Home]\n[Pet  a]\n", 2, "' a' is not a name" },
  { "[Home]\n[Pet A]\n", 2, "'A' is not a name" },
  { "[Home]\n[Pet ]\n", 2, "'' is not a name" },
  { "[Home]\n[Pet a b]\n", 2, "'a b' is not a name" },
  { "[Home] # why\n", 1, "is not a section: one [" },
  { "[Home]]\n", 1, "is not a section: one [" },
  { "[[Home]\n", 1, "is not a section" },
  { "[Home\n", 1, "is not a section: one [" },
  { "[]\n", 1, "'' is not a section" },
  { "Street=a\n[Home]\n", 1, "Street= stands before any section" },
  { "[Home]\n Street=a\n", 2, "white space at the start" },
  { "[Home]\nStreet=a\n b\n", 3, "white space at the start" },
  { "[Home]\nStreet =a\n", 2, "is not a section, a key" },
  { "[Home]\nStreet= a\n", 2, "white space after Street=" },
  { "[Home]\nStreet=a \n", 2, "white space at the end" },
  { "[Home] \n", 1, "white space at the end" },
  { " \n[Home]\n", 1, "white space at the start" },
  { "[Home]\nStreet=a\\\nb\n", 2, "a backslash at the end" },
  { "[Home]\nStreet\n", 2, "'Street' is not a section" },
  { "[Home]\n=a\n", 2, "is not a section, a key" },
  { "[Home]\nStreet[de]=a\n", 2, "is not a section, a key" },
  { "[Home]\nStreet=\n", 2, "Street= has no value" },
  { "[Home]\r\nStreet=a\n", 1, "an invisible character, U+000D, at byte 7" },
  { "[Home]\nStreet=a\tb\n", 2, "U+0009" },
  { "\xef\xbb\xbf[Home]\n", 1, "U+FEFF, at byte 1" },
  { "[Home]\nStreet=a\xe2\x80\xae"
    "b\n",
    2, "U+202E" },
  { "[Home]\n# a\xe2\x80\x8b"
    "b\n",
    2, "U+200B" },
  { "[Home]\nStreet=a\xe2\x80\xa8"
    "b\n",
    2, "U+2028" },
  { "[Home]\nStreet=a\xf3\xa0\x81\x81\n", 2, "U+E0041" },
  { "[Home]\nStreet=a\x1b[2Jb\n", 2, "U+001B" },
  { "[Home]\nStreet=\xff\n", 2, "not valid UTF-8" },
  { "[Home]\n\nStreet=\xed\xa0\x80\n", 3, "not valid UTF-8" },
  { "[Home]\nStreet=\xc0\xaf\n", 2, "not valid UTF-8" },
  { "[Home]\n[Pet a]\nName=x\nx\x1b\n", 4, "U+001B" },
};

static char *
first_fault (GBytes *bytes, KeyFile **out_file)
{
  g_autoptr (Faults) faults = faults_new ();
  g_autoptr (GError) error = NULL;

  *out_file = key_file_parse ("x", bytes, schema, faults);
  g_assert_true ((*out_file == NULL) == (faults_count (faults) > 0));
  if (faults_report (faults, &error))
    return NULL;
  g_assert_error (error, US_ERROR, US_ERROR_POLICY_INVALID);
  g_assert_true (us_error_has_reason (error, "policy-invalid"));
  return g_strdup (error->message + strlen ("policy-invalid: "));
}

static void
test_refused (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new (refused[i].text, strlen (refused[i].text));
      g_autoptr (KeyFile) file = NULL;
      g_autofree char *fault = first_fault (bytes, &file);
      g_autofree char *where = set_where ("x", refused[i].line);

      if (fault == NULL || !g_str_has_prefix (fault, where) ||
          strstr (fault, refused[i].says) == NULL)
        g_error ("row %u: got %s, want %s%s", i, fault, where, refused[i].says);
    }
}

static void
test_nul (void)
{
  static const char text[] = "[Home]\nStreet=a\0b\n";
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, sizeof text - 1);
  g_autoptr (KeyFile) file = NULL;
  g_autofree char *fault = first_fault (bytes, &file);

  g_assert_cmpstr (fault, ==, "x:2: a NUL byte");
}

/* @head, then @fill times 'a', then @tail. */
static GBytes *
filled (const char *head, gsize fill, const char *tail)
{
  GString *text = g_string_new (head);

  for (gsize i = 0; i < fill; i++)
    g_string_append_c (text, 'a');
  g_string_append (text, tail);
  return g_string_free_to_bytes (text);
}

static void
test_sizes (void)
{
  const gsize line = KEY_FILE_MAX_LINE - strlen ("Street=");
  g_autoptr (GBytes) fits = filled ("[Home]\nStreet=", line, "\n");
  g_autoptr (GBytes) longer = filled ("[Home]\nStreet=", line + 1, "\n");
  g_autoptr (GBytes) large = filled ("[Home]\n#", KEY_FILE_MAX_BYTES - 7, "");
  g_autoptr (KeyFile) a = NULL, b = NULL, c = NULL;
  g_autofree char *none = first_fault (fits, &a);
  g_autofree char *line_fault = first_fault (longer, &b);
  g_autofree char *file_fault = first_fault (large, &c);

  g_assert_null (none);
  g_assert_cmpstr (line_fault, ==, "x:2: the line is longer than 8192 bytes");
  g_assert_cmpstr (file_fault, ==, "x: the file is larger than 262144 bytes");
}

static void
test_all_faults (void)
{
  static const char text[] = "[Home]\nStreet=\nStreet\n[Dog a]\nName=x\n[Pet a]\nAge=1\n";
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, sizeof text - 1);
  g_autoptr (KeyFile) file = NULL;
  g_autofree char *faults = first_fault (bytes, &file);
  g_auto (GStrv) lines = g_strsplit (faults, "\n", -1);

  g_assert_cmpuint (g_strv_length (lines), ==, 4);
  g_assert_true (g_str_has_prefix (lines[0], "x:2: "));
  g_assert_true (g_str_has_prefix (lines[1], "x:3: "));
  g_assert_true (g_str_has_prefix (lines[2], "x:4: "));
  g_assert_true (g_str_has_prefix (lines[3], "x:7: "));
}

static void
test_read (void)
{
  static const char text[] = "; a comment\n#\twith a tab\n\n[Home]\nStreet=a = b\nFree=\n"
                             "[Pet b]\nName=Zoë\nWhen=one\nWhen=two\nNote=\n[Pet a]\nName=[x]";
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, sizeof text - 1);
  g_autoptr (KeyFile) file = NULL;
  g_autofree char *fault = first_fault (bytes, &file);
  const KeySection *home, *pet;

  g_assert_cmpstr (fault, ==, NULL);
  g_assert_cmpuint (file->sections->len, ==, 3);
  home = key_file_section (file, "Home");
  g_assert_cmpstr (key_section_value (home, "Street"), ==, "a = b");
  g_assert_cmpstr (key_section_value (home, "Free"), ==, "");
  g_assert_null (home->name);
  g_assert_cmpuint (home->line, ==, 4);
  pet = g_ptr_array_index (file->sections, 1);
  g_assert_cmpstr (pet->name, ==, "b");
  g_assert_cmpuint (pet->entries->len, ==, 4);
  g_assert_cmpstr (key_section_value (pet, "Name"), ==, "Zoë");
  g_assert_cmpuint (key_section_line (pet, "When"), ==, 9);
  g_assert_cmpuint (key_section_line (pet, "Colour"), ==, 7);
  g_assert_null (key_section_entry (pet, "Colour"));
  pet = g_ptr_array_index (file->sections, 2);
  g_assert_cmpstr (key_section_value (pet, "Name"), ==, "[x]");
}

/* What is left of a file with faults, for who says every fault. */
static void
test_rest (void)
{
  static const char text[] = "[Home]\nStreet=a\nNot\n[Pet a]\nName=x\n[Pet b]\nName=\n[Nix]\nA=b\n"
                             "[Pet c]\nColour=red\n[Pet d]\nName=y\n";
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, sizeof text - 1);
  g_autoptr (GBytes) no_text = g_bytes_new_static ("[Home]\nStreet=\xff\n", 17);
  g_autoptr (Faults) faults = faults_new ();
  g_autoptr (KeyFile) file = key_file_parse_rest ("x", bytes, schema, faults);

  g_assert_cmpuint (faults_count (faults), ==, 4);
  g_assert_null (key_file_section (file, "Home"));
  g_assert_cmpuint (file->sections->len, ==, 2);
  g_assert_cmpstr (((const KeySection *) file->sections->pdata[0])->name, ==, "a");
  g_assert_cmpstr (((const KeySection *) file->sections->pdata[1])->name, ==, "d");
  g_assert_null (key_file_parse_rest ("x", no_text, schema, faults));
}

static void
test_words (void)
{
  static const char text[] = "[Home]\nStreet=a  b c\nFree=a b a\nMaybe=true\nSure=yes\nNot=no\n";
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, sizeof text - 1);
  g_autoptr (Faults) faults = faults_new ();
  g_autoptr (KeyFile) file = key_file_parse ("x", bytes, schema, faults);
  const KeySection *home = key_file_section (file, "Home");
  g_auto (GStrv) words = key_entry_words (file, key_section_entry (home, "Street"), 3, faults);
  g_auto (GStrv) once = NULL;

  g_assert_cmpuint (g_strv_length (words), ==, 3);
  g_assert_cmpstr (words[2], ==, "c");
  g_assert_true (key_section_yes_no (file, home, "Sure", FALSE, faults));
  g_assert_false (key_section_yes_no (file, home, "Not", TRUE, faults));
  g_assert_true (key_section_yes_no (file, home, "Absent", TRUE, faults));
  g_assert_cmpuint (faults_count (faults), ==, 0);

  g_assert_null (key_entry_words (file, key_section_entry (home, "Street"), 2, faults));
  g_assert_cmpuint (faults_count (faults), ==, 1);
  once = key_entry_words (file, key_section_entry (home, "Free"), 9, faults);
  g_assert_cmpuint (g_strv_length (once), ==, 2);
  g_assert_cmpuint (faults_count (faults), ==, 2);
  g_assert_false (key_section_yes_no (file, home, "Maybe", FALSE, faults));
  g_assert_cmpuint (faults_count (faults), ==, 3);
}

static void
test_many_faults (void)
{
  g_autoptr (Faults) faults = faults_new ();
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) lines = NULL;

  g_assert_true (faults_report (faults, NULL));
  for (guint i = 0; i < FAULTS_MAX_REPORTED + 7; i++)
    faults_add (faults, i % 2 == 0 ? "b" : "a", 1000 - i, "fault %u", i);
  g_assert_false (faults_report (faults, &error));
  lines = g_strsplit (error->message, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, FAULTS_MAX_REPORTED + 1);
  g_assert_true (g_str_has_prefix (lines[0], "policy-invalid: a:"));
  g_assert_cmpstr (lines[FAULTS_MAX_REPORTED], ==, "and 7 more");
}

static void
test_quote (void)
{
  g_autofree char *plain = quote_text ("Zoë");
  g_autofree char *hostile = quote_text ("a\x1b[2J\n\xff\xe2\x80\xae");
  g_autofree char *long_text = g_strnfill (500, 'x');
  g_autofree char *cut = quote_text (long_text);

  g_assert_cmpstr (plain, ==, "'Zoë'");
  g_assert_cmpstr (hostile, ==, "'a\\x1b[2J\\x0a\\xff\\xe2\\x80\\xae'");
  g_assert_cmpuint (strlen (cut), ==, 80 + 5);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/policy/keyfile/refused", test_refused);
  g_test_add_func ("/policy/keyfile/nul", test_nul);
  g_test_add_func ("/policy/keyfile/sizes", test_sizes);
  g_test_add_func ("/policy/keyfile/all-faults", test_all_faults);
  g_test_add_func ("/policy/keyfile/read", test_read);
  g_test_add_func ("/policy/keyfile/rest", test_rest);
  g_test_add_func ("/policy/keyfile/words", test_words);
  g_test_add_func ("/policy/keyfile/many-faults", test_many_faults);
  g_test_add_func ("/policy/keyfile/quote", test_quote);
  return g_test_run ();
}
