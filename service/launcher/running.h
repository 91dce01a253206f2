/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The unit that a command runs in, as systemd has it: it is started once, looked at, and stopped
 * until it has ended.  systemd starts itself anew when it is upgraded, and any call can be lost.
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct Running Running;

typedef struct
{
  /* systemd has not said that it starts it, whatever else: it may have, and is to be stopped. */
  void (*doubtful) (const char *why, gpointer data);
  /* The last: it is there no more.  @code: CLD_EXITED and the like; 0 where nobody knows */
  void (*ended) (gint32 code, gint32 status, gpointer data);
} RunningHooks;

/*
 * running_start: has systemd start @unit.
 * @properties: floating
 * @again_seconds: after which what had no answer is said once more
 * @hooks: must outlive it, as @data must; none is called before it returns
 */
Running *running_start (GDBusConnection *bus,
                        const char *unit,
                        GVariant *properties,
                        guint again_seconds,
                        const RunningHooks *hooks,
                        gpointer data);

/* running_free: systemd may forget it, too; no hook is called any more. */
void running_free (Running *running);

/* running_look: whether it has ended. */
void running_look (Running *running);

/* running_stop: has it stopped, and that again until it has ended. */
void running_stop (Running *running);

G_END_DECLS
