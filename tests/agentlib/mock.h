/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A service on a test's own bus that says what the test wants.  It answers in GDBus's worker thread, so
 * that blocking calls of the test can reach it.
 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define MOCK_RUN "00000000000000000000000000000001"
#define MOCK_ID "0123456789abcdef0123456789abcdef"
#define MOCK_REQUEST "/org/undersign1/request/" MOCK_ID

typedef struct Mock Mock;

/* mock_new: takes org.undersign1 on the bus at @address. */
Mock *mock_new (const char *address);
/* mock_free: leaves the bus, as a crash does. */
void mock_free (Mock *mock);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Mock, mock_free)

/* What GetState() says from now on; @extra: (nullable): an a{sv} text of further details. */
void mock_set_state (Mock *mock, const char *state, const char *executed, const char *extra);

/* What Submit() returns as the state. */
void mock_set_submit_state (Mock *mock, const char *state);

/* What any @method replies from now on: a GVariant text, or an error with a name. */
void mock_set_reply (Mock *mock, const char *method, const char *reply);
void mock_set_error (Mock *mock, const char *method, const char *name, const char *message);

/* @method gets no reply from now on. */
void mock_set_silent (Mock *mock, const char *method);

/* mock_hold: @method is answered when mock_release() is called, as is right then. */
void mock_hold (Mock *mock, const char *method);
void mock_release (Mock *mock);

/* mock_emit_changed: to who called Watch() last. */
void mock_emit_changed (Mock *mock, const char *state);

/* mock_calls: how often @method was called; NULL: any. */
guint mock_calls (Mock *mock, const char *method);

/* mock_body: (transfer full): the latest call's parameters, printed with types. */
char *mock_body (Mock *mock, const char *method);

/* mock_file: (transfer full) (nullable): content of a file of the latest Submit(); it must be sealed. */
char *mock_file (Mock *mock, guint handle);

/* mock_watcher: (transfer full): the unique name that called Watch() last. */
char *mock_watcher (Mock *mock);

G_END_DECLS
