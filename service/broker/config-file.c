/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading undersign.conf.  A number that can't be read is an error and never the default, and a
 * limit can't be switched off by a value that looks like nothing.
 */
#include "service/broker/config-file.h"

#include "dbus/error.h"
#include "dbus/reason.h"
#include "service/base/clock.h"
#include "service/base/file.h"
#include "service/policy/keyfile.h"

#include <fcntl.h>
#include <string.h>

typedef enum
{
  KIND_COUNT,
  KIND_BYTES,
  KIND_SECONDS,
} Kind;

static const struct
{
  const char *key;
  Kind kind;
  gsize offset; /* in LimitsConfig: a guint for a count, else a guint64 */
  guint64 minimum, maximum;
} keys[] = {
  { "Pending", KIND_COUNT, G_STRUCT_OFFSET (LimitsConfig, pending), 1, 1000 },
  { "PendingAll", KIND_COUNT, G_STRUCT_OFFSET (LimitsConfig, pending_all), 1, 1000 },
  { "PendingReserve", KIND_COUNT, G_STRUCT_OFFSET (LimitsConfig, pending_reserve), 0, 1000 },
  { "SubmitsPerMinute", KIND_COUNT, G_STRUCT_OFFSET (LimitsConfig, submits_per_minute), 1, 6000 },
  { "RunsPerMinute", KIND_COUNT, G_STRUCT_OFFSET (LimitsConfig, runs_per_minute), 1, 6000 },
  { "SpoolBytes", KIND_BYTES, G_STRUCT_OFFSET (LimitsConfig, spool_bytes), 0, G_MAXINT64 },
  { "SpoolBytesAll", KIND_BYTES, G_STRUCT_OFFSET (LimitsConfig, spool_bytes_all), 0, G_MAXINT64 },
  { "DiskReserve", KIND_BYTES, G_STRUCT_OFFSET (LimitsConfig, disk_reserve), 0, G_MAXINT64 },
  { "Denials", KIND_COUNT, G_STRUCT_OFFSET (LimitsConfig, denials), 0, 1000 },
  { "DenialPeriod", KIND_SECONDS, G_STRUCT_OFFSET (LimitsConfig, denial_period), 1,
    7 * 24 * 60 * 60 },
  { "DenialPause", KIND_SECONDS, G_STRUCT_OFFSET (LimitsConfig, denial_pause), 1,
    7 * 24 * 60 * 60 },
};

static const KeySpec limits_keys[] = {
  { "Pending", KEY_PLAIN },
  { "PendingAll", KEY_PLAIN },
  { "PendingReserve", KEY_PLAIN },
  { "SubmitsPerMinute", KEY_PLAIN },
  { "RunsPerMinute", KEY_PLAIN },
  { "SpoolBytes", KEY_PLAIN },
  { "SpoolBytesAll", KEY_PLAIN },
  { "DiskReserve", KEY_PLAIN },
  { "Denials", KEY_PLAIN },
  { "DenialPeriod", KEY_PLAIN },
  { "DenialPause", KEY_PLAIN },
  { NULL, KEY_PLAIN },
};

static const SectionSpec schema[] = {
  { "Limits", NULL, SECTION_PLAIN, limits_keys },
  { NULL, NULL, SECTION_PLAIN, NULL },
};

G_STATIC_ASSERT (G_N_ELEMENTS (limits_keys) == G_N_ELEMENTS (keys) + 1);

/* Plain digits, no leading zero, and for bytes one of K, M and G at the end. */
static gboolean
parse_number (const char *text, gboolean may_have_unit, guint64 *out_value)
{
  gsize digits = strspn (text, "0123456789");
  guint64 factor = 1;
  guint64 value = 0;
  g_autofree char *number = g_strndup (text, digits);

  if (digits == 0 || (digits > 1 && text[0] == '0'))
    return FALSE;
  if (may_have_unit && strcmp (text + digits, "K") == 0)
    factor = 1024;
  else if (may_have_unit && strcmp (text + digits, "M") == 0)
    factor = 1024 * 1024;
  else if (may_have_unit && strcmp (text + digits, "G") == 0)
    factor = 1024 * 1024 * 1024;
  else if (text[digits] != '\0')
    return FALSE;
  return g_ascii_string_to_unsigned (number, 10, 0, G_MAXINT64, &value, NULL) &&
         g_uint64_checked_mul (out_value, value, factor);
}

static void
set_member (LimitsConfig *config, guint i, guint64 value)
{
  if (keys[i].kind == KIND_COUNT)
    G_STRUCT_MEMBER (guint, config, keys[i].offset) = (guint) value;
  else
    G_STRUCT_MEMBER (guint64, config, keys[i].offset) = value;
}

static void
read_key (const KeyFile *file,
          const KeySection *section,
          guint i,
          LimitsConfig *config,
          Faults *faults)
{
  const char *text = key_section_value (section, keys[i].key);
  guint line = key_section_line (section, keys[i].key);
  gboolean ok = FALSE;
  guint64 value = 0;

  if (text == NULL)
    return;
  if (keys[i].kind == KIND_SECONDS)
    ok = duration_parse (text, &value);
  else
    ok = parse_number (text, keys[i].kind == KIND_BYTES, &value);

  if (!ok)
    faults_add (faults, file->path, line, "%s is not a %s", keys[i].key,
                keys[i].kind == KIND_SECONDS ? "duration" : "number");
  else if (value < keys[i].minimum || value > keys[i].maximum)
    faults_add (faults, file->path, line,
                "%s is not between %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT, keys[i].key,
                keys[i].minimum, keys[i].maximum);
  else
    set_member (config, i, value);
}

gboolean
config_parse (const char *path, GBytes *content, LimitsConfig *out_config, GError **error)
{
  g_autoptr (Faults) faults = faults_new ();
  g_autoptr (KeyFile) file = key_file_parse (path, content, schema, faults);
  const KeySection *section = file != NULL ? key_file_section (file, "Limits") : NULL;
  LimitsConfig config = *out_config;

  if (section != NULL)
    {
      for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
        read_key (file, section, i, &config, faults);
      if (config.pending > config.pending_all)
        faults_add (faults, path, section->line, "Pending is more than PendingAll");
    }
  if (!faults_report (faults, error))
    return FALSE;
  *out_config = config;
  return TRUE;
}

gboolean
config_load (const char *dir, uid_t owner, LimitsConfig *out_config, GError **error)
{
  g_autofree char *path = g_build_filename (dir, CONFIG_NAME, NULL);
  g_autoptr (GError) local = NULL;
  g_autoptr (GBytes) content =
      file_read_trusted (AT_FDCWD, path, owner, KEY_FILE_MAX_BYTES, &local);

  if (content != NULL)
    return config_parse (path, content, out_config, error);
  if (g_error_matches (local, G_FILE_ERROR, G_FILE_ERROR_NOENT))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}
