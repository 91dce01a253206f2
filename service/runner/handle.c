/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The handle of one call: the checked content of the message on one side, the getters of the module
 * ABI on the other, and the answer that the module leaves behind.  The getters are the only symbols
 * that this program exports; they hand out what is in the handle and nothing else.
 */
#include "service/runner/handle.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/encode.h"
#include "service/base/memfd.h"
#include "service/base/wire.h"
#include "service/record/type.h"

#include <string.h>

typedef struct
{
  char *name;
  TypeWire wire;
  char *string;
  gboolean boolean;
  char **strings;
  struct us_sm_file *files; /* their names are owned by this argument */
  gsize count;              /* of strings or files */
} Argument;

typedef struct
{
  char *name;
  char *value;
} Setting;

typedef struct
{
  char *name;
  const Type *type;
  char *value; /* NULL until the module gave one */
} Fact;

struct us_sm_handle
{
  char *request;
  char *action;
  GPtrArray *arguments; /* Argument, in the order of the record, as the next two */
  GPtrArray *settings;  /* Setting */
  GPtrArray *facts;     /* Fact */
  char *credential_name;
  Secret *credential;
  char *result;
};

static void
argument_free (gpointer data)
{
  Argument *argument = data;

  if (argument->files != NULL)
    for (gsize i = 0; i < argument->count; i++)
      g_free ((char *) argument->files[i].name);
  g_free (argument->files);
  g_strfreev (argument->strings);
  g_free (argument->string);
  g_free (argument->name);
  g_free (argument);
}

static void
setting_free (gpointer data)
{
  Setting *setting = data;

  g_free (setting->name);
  g_free (setting->value);
  g_free (setting);
}

static void
fact_free (gpointer data)
{
  Fact *fact = data;

  g_free (fact->name);
  g_free (fact->value);
  g_free (fact);
}

void
handle_free (us_sm_handle *handle)
{
  if (handle == NULL)
    return;
  g_clear_pointer (&handle->arguments, g_ptr_array_unref);
  g_clear_pointer (&handle->settings, g_ptr_array_unref);
  g_clear_pointer (&handle->facts, g_ptr_array_unref);
  secret_free (handle->credential);
  g_free (handle->credential_name);
  g_free (handle->request);
  g_free (handle->action);
  g_free (handle->result);
  g_free (handle);
}

/* --- from the message --- */

static gboolean
refuse (GError **error, const char *name, const char *why)
{
  return us_error_set (error, US_ERROR_INVALID_ARGUMENT, US_REASON_BAD_MESSAGE, "%s: %s", name,
                       why);
}

static gboolean
name_is_valid (const char *name)
{
  gsize len = strlen (name);

  return len >= 1 && len <= RECORD_MAX_NAME && g_ascii_islower (name[0]) &&
         strspn (name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == len;
}

/* type_of: the type of that name, for an argument, setting or fact of this name. */
static const Type *
type_of (const char *name, const char *type_name, GError **error)
{
  const Type *type = NULL;

  if (!name_is_valid (name))
    {
      refuse (error, "a name in the call", "it is malformed");
      return NULL;
    }
  type = type_find (type_name);
  if (type == NULL)
    refuse (error, name, "its type is unknown");
  return type;
}

/* Argument, Setting and Fact all begin with their name. */
static gpointer
member_find (const GPtrArray *members, const char *name)
{
  for (guint i = 0; i < members->len; i++)
    {
      gpointer member = g_ptr_array_index (members, i);

      if (strcmp (*(char **) member, name) == 0)
        return member;
    }
  return NULL;
}

/* member_is_new: FALSE for a second one of that name, and for one too many. */
static gboolean
member_is_new (const GPtrArray *members, const char *name, GError **error)
{
  if (members->len >= RECORD_MAX_ARGUMENTS)
    return refuse (error, name, "there are too many of its kind");
  if (member_find (members, name) != NULL)
    return refuse (error, name, "it is there twice");
  return TRUE;
}

/* The sizes are of the descriptors; the digests are of no use here and stay zero. */
static gboolean
files_describe (const Handover *handover, TypeFile *out_files, GError **error)
{
  for (guint i = 0; i < handover->n_fds; i++)
    {
      gsize size = 0;

      if (!memfd_check (handover->fds[i], HANDOVER_FILE_MAX, &size, error))
        return FALSE;
      out_files[i].size = size;
    }
  return TRUE;
}

static void
argument_take_files (Argument *argument,
                     const Handover *handover,
                     const TypeFile *files,
                     GVariant *value)
{
  gsize n = g_variant_n_children (value);

  /* One more than there are: an empty list is a list too. */
  argument->files = g_new0 (struct us_sm_file, n + 1);
  argument->count = n;
  for (gsize i = 0; i < n; i++)
    {
      char *name = NULL;
      gint32 index = 0;

      g_variant_get_child (value, i, "(sh)", &name, &index);
      argument->files[i] = (struct us_sm_file){ .name = name,
                                                .fd = handover->fds[index],
                                                .size = files[index].size };
    }
}

/* argument_check: as the bus would; a single file travels as a list of one. */
static gboolean
argument_check (const Type *type,
                const char *name,
                GVariant *value,
                const TypeFile *files,
                guint n_files,
                gboolean *used,
                GError **error)
{
  g_autoptr (GVariant) only = NULL;
  g_autoptr (JsonTree) tree = NULL;

  if (type_wire (type) == TYPE_WIRE_FILE)
    {
      if (!g_variant_is_of_type (value, G_VARIANT_TYPE ("a(sh)")) ||
          g_variant_n_children (value) != 1)
        return refuse (error, name, "it is not one file");
      only = g_variant_get_child_value (value, 0);
    }
  tree = type_from_variant (type, name, only != NULL ? only : value, files, n_files, used, error);
  return tree != NULL;
}

static Argument *
argument_new (const char *name,
              const Type *type,
              const Handover *handover,
              const TypeFile *files,
              GVariant *value)
{
  Argument *argument = g_new0 (Argument, 1);

  argument->name = g_strdup (name);
  argument->wire = type_wire (type);
  switch (argument->wire)
    {
    case TYPE_WIRE_STRING:
      argument->string = g_variant_dup_string (value, NULL);
      break;
    case TYPE_WIRE_BOOLEAN:
      argument->boolean = g_variant_get_boolean (value);
      break;
    case TYPE_WIRE_STRINGS:
      argument->strings = g_variant_dup_strv (value, &argument->count);
      break;
    case TYPE_WIRE_FILE:
    case TYPE_WIRE_FILES:
      argument_take_files (argument, handover, files, value);
      break;
    default:
      g_assert_not_reached ();
    }
  return argument;
}

static gboolean
read_arguments (us_sm_handle *handle, const Handover *handover, GVariant *list, GError **error)
{
  TypeFile files[HANDOVER_MAX_FILES] = { { 0 } };
  gboolean used[HANDOVER_MAX_FILES] = { FALSE };

  if (!files_describe (handover, files, error))
    return FALSE;

  for (gsize i = 0; i < g_variant_n_children (list); i++)
    {
      g_autoptr (GVariant) value = NULL;
      const char *name = NULL;
      const char *type_name = NULL;
      const Type *type = NULL;

      g_variant_get_child (list, i, "(&s&sv)", &name, &type_name, &value);
      type = type_of (name, type_name, error);
      if (type == NULL || !member_is_new (handle->arguments, name, error) ||
          !argument_check (type, name, value, files, handover->n_fds, used, error))
        return FALSE;
      g_ptr_array_add (handle->arguments, argument_new (name, type, handover, files, value));
    }

  for (guint i = 0; i < handover->n_fds; i++)
    if (!used[i])
      return refuse (error, "a file", "it belongs to no argument");
  return TRUE;
}

static gboolean
read_settings (us_sm_handle *handle, GVariant *list, GError **error)
{
  for (gsize i = 0; i < g_variant_n_children (list); i++)
    {
      g_autoptr (JsonTree) tree = NULL;
      const char *name = NULL;
      const char *type_name = NULL;
      const char *value = NULL;
      const Type *type = NULL;
      Setting *setting = NULL;

      g_variant_get_child (list, i, "(&s&s&s)", &name, &type_name, &value);
      type = type_of (name, type_name, error);
      if (type == NULL || !member_is_new (handle->settings, name, error))
        return FALSE;
      tree = type_from_text (type, name, value, error);
      if (tree == NULL)
        return FALSE;
      setting = g_new0 (Setting, 1);
      *setting = (Setting){ .name = g_strdup (name), .value = g_strdup (value) };
      g_ptr_array_add (handle->settings, setting);
    }
  return TRUE;
}

static gboolean
read_facts (us_sm_handle *handle, GVariant *list, GError **error)
{
  for (gsize i = 0; i < g_variant_n_children (list); i++)
    {
      const char *name = NULL;
      const char *type_name = NULL;
      const Type *type = NULL;
      Fact *fact = NULL;

      g_variant_get_child (list, i, "(&s&s)", &name, &type_name);
      type = type_of (name, type_name, error);
      if (type == NULL || !member_is_new (handle->facts, name, error))
        return FALSE;
      fact = g_new0 (Fact, 1);
      *fact = (Fact){ .name = g_strdup (name), .type = type };
      g_ptr_array_add (handle->facts, fact);
    }
  return TRUE;
}

static gboolean
action_is_valid (const char *action)
{
  gsize len = strlen (action);

  return len >= 1 && len <= RECORD_MAX_ACTION && g_ascii_islower (action[0]) &&
         strspn (action, "abcdefghijklmnopqrstuvwxyz0123456789._-") == len;
}

us_sm_handle *
handle_new (const Handover *handover, GError **error)
{
  g_autoptr (us_sm_handle) handle = g_new0 (us_sm_handle, 1);
  g_autoptr (GVariant) arguments = NULL;
  g_autoptr (GVariant) settings = NULL;
  g_autoptr (GVariant) facts = NULL;

  handle->arguments = g_ptr_array_new_with_free_func (argument_free);
  handle->settings = g_ptr_array_new_with_free_func (setting_free);
  handle->facts = g_ptr_array_new_with_free_func (fact_free);
  handle->result = g_strdup ("");
  g_variant_get (handover->body, "(ss@a(ssv)@a(sss)s@a(ss))", &handle->request, &handle->action,
                 &arguments, &settings, &handle->credential_name, &facts);

  if (!id_is_valid (handle->request))
    refuse (error, "the request id", "it is malformed");
  else if (!action_is_valid (handle->action))
    refuse (error, "the action id", "it is malformed");
  else if (read_arguments (handle, handover, arguments, error) &&
           read_settings (handle, settings, error) && read_facts (handle, facts, error))
    return g_steal_pointer (&handle);
  return NULL;
}

/* --- for the runner --- */

const char *
handle_credential_name (const us_sm_handle *handle)
{
  return handle->credential_name;
}

void
handle_take_credential (us_sm_handle *handle, Secret *credential)
{
  secret_free (handle->credential);
  handle->credential = credential;
}

static const char *
outcome_name (int code)
{
  switch (code)
    {
    case US_SM_DONE:
      return "done";
    case US_SM_FAILED:
      return "failed";
    default: /* whatever else a module returns: nobody knows */
      return "unknown";
    }
}

GVariant *
handle_reply (us_sm_handle *handle, int code, gboolean with_facts)
{
  GVariantBuilder facts;

  g_variant_builder_init (&facts, G_VARIANT_TYPE (WIRE_FACTS));
  if (with_facts && code == US_SM_DONE)
    for (guint i = 0; i < handle->facts->len; i++)
      {
        const Fact *fact = g_ptr_array_index (handle->facts, i);

        if (fact->value == NULL)
          {
            g_variant_builder_clear (&facts);
            us_sm_set_result (handle, "the module did not give every fact");
            return g_variant_new ("(s@" WIRE_FACTS "s)", outcome_name (US_SM_FAILED),
                                  g_variant_new_array (G_VARIANT_TYPE ("(ss)"), NULL, 0),
                                  handle->result);
          }
        g_variant_builder_add (&facts, "(ss)", fact->name, fact->value);
      }
  return g_variant_new (WIRE_MODULE_REPLY, outcome_name (code), &facts, handle->result);
}

/* --- for the module --- */

US_SM_EXPORT const char *
us_sm_action (const us_sm_handle *handle)
{
  return handle->action;
}

US_SM_EXPORT const char *
us_sm_request (const us_sm_handle *handle)
{
  return handle->request;
}

US_SM_EXPORT const char *
us_sm_string (const us_sm_handle *handle, const char *name)
{
  const Argument *argument = member_find (handle->arguments, name);

  return argument != NULL && argument->wire == TYPE_WIRE_STRING ? argument->string : NULL;
}

US_SM_EXPORT int
us_sm_boolean (const us_sm_handle *handle, const char *name)
{
  const Argument *argument = member_find (handle->arguments, name);

  if (argument == NULL || argument->wire != TYPE_WIRE_BOOLEAN)
    return -1;
  return argument->boolean ? 1 : 0;
}

US_SM_EXPORT const char *const *
us_sm_strings (const us_sm_handle *handle, const char *name, size_t *out_count)
{
  const Argument *argument = member_find (handle->arguments, name);

  if (argument == NULL || argument->wire != TYPE_WIRE_STRINGS)
    return NULL;
  if (out_count != NULL)
    *out_count = argument->count;
  return (const char *const *) argument->strings;
}

US_SM_EXPORT const struct us_sm_file *
us_sm_files (const us_sm_handle *handle, const char *name, size_t *out_count)
{
  const Argument *argument = member_find (handle->arguments, name);

  if (argument == NULL || argument->files == NULL)
    return NULL;
  if (out_count != NULL)
    *out_count = argument->count;
  return argument->files;
}

US_SM_EXPORT const char *
us_sm_setting (const us_sm_handle *handle, const char *name)
{
  const Setting *setting = member_find (handle->settings, name);

  return setting != NULL ? setting->value : NULL;
}

static const char *
member_name (const GPtrArray *members, size_t i)
{
  return i < members->len ? *(char **) g_ptr_array_index (members, (guint) i) : NULL;
}

US_SM_EXPORT const char *
us_sm_argument_name (const us_sm_handle *handle, size_t i)
{
  return member_name (handle->arguments, i);
}

US_SM_EXPORT const char *
us_sm_setting_name (const us_sm_handle *handle, size_t i)
{
  return member_name (handle->settings, i);
}

US_SM_EXPORT const char *
us_sm_credential (const us_sm_handle *handle, size_t *out_size)
{
  if (handle->credential == NULL)
    return NULL;
  if (out_size != NULL)
    *out_size = secret_size (handle->credential);
  return (const char *) secret_data (handle->credential);
}

US_SM_EXPORT int
us_sm_add_fact (us_sm_handle *handle, const char *name, const char *value)
{
  Fact *fact = member_find (handle->facts, name);
  g_autoptr (JsonTree) tree = NULL;

  if (fact == NULL || fact->value != NULL)
    return -1;
  tree = type_from_text (fact->type, name, value, NULL);
  if (tree == NULL)
    return -1;
  fact->value = g_strdup (value);
  return 0;
}

US_SM_EXPORT void
us_sm_set_result (us_sm_handle *handle, const char *text)
{
  g_autofree char *valid = NULL;
  gsize len = 0;

  g_free (handle->result);
  handle->result = NULL;

  valid = g_utf8_make_valid (text, (gssize) strnlen (text, HANDLE_MAX_RESULT));
  len = strlen (valid);
  /* A replacement character is longer than the byte it stands for. */
  while (len > HANDLE_MAX_RESULT)
    len = (gsize) (g_utf8_find_prev_char (valid, valid + len) - valid);
  handle->result = g_strndup (valid, len);
}
