/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mechanism with the table of the administrator's members.  Whatever is asked for, polkit has
 * said yes before a handler of this folder runs.
 */
#include "service/admin/admin.h"

#include "dbus/names.h"
#include "service/admin/encrypt.h"
#include "service/admin/member.h"
#include "service/passkey/passkey.h"

/* Of one call: nothing is longer than what a new passkey says. */
#define BODY_MAX (PASSKEY_ATTESTATION_MAX + PASSKEY_CLIENT_DATA_MAX + 4096)

static gboolean
is_busy (gpointer data)
{
  const AdminState *state = data;

  return enrolments_open (state->enrolments) > 0;
}

/* systemd-creds may take its time, and systemd waits for the end of this process. */
static void
ends (gpointer data)
{
  encrypt_end_all ();
}

int
admin_run (const AdminConfig *config)
{
  AdminState state = { .config = config };
  const MechanismConfig bus = {
    .address = config->address,
    .name = US_ADMIN_BUS_NAME,
    .path = US_ADMIN_OBJECT_PATH,
    .find = member_find,
    .body_max = BODY_MAX,
    .fds_max = 1,
    .authorise_seconds = config->authorise_seconds,
    .interactive_seconds = config->interactive_seconds,
    .idle_seconds = config->idle_seconds,
    .busy = is_busy,
    .ends = ends,
    .data = &state,
  };
  g_autoptr (GError) error = NULL;
  Mechanism *mechanism = mechanism_new (&bus, &error);
  int status = 1;

  if (mechanism == NULL)
    {
      g_warning ("no bus: %s", error->message);
      return 1;
    }
  state.bus = mechanism_bus (mechanism);
  state.enrolments = enrolments_new ();
  status = mechanism_serve (mechanism);
  mechanism_free (mechanism);
  enrolments_free (state.enrolments);
  return status;
}
