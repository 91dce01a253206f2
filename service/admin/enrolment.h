/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The enrolments that are open: what was asked for and authorised, until the key answers.  Each has
 * a random challenge, belongs to one caller, ends by itself and is used once, whatever comes of it.
 */
#pragma once

#include "service/base/pae.h"

#include <glib.h>
#include <sys/types.h>

G_BEGIN_DECLS

#define ENROLMENTS_MAX 32
#define ENROLMENTS_MAX_PER_CALLER 4

typedef struct
{
  char *id;
  char *sender; /* unique name of the caller */
  char *user;
  uid_t uid;
  char *kind;
  char *label;
  char *rp;
  char *origin;
  guint8 challenge[PAE_DIGEST_SIZE];
  guint64 deadline; /* CLOCK_BOOTTIME, microseconds */
} Enrolment;

void enrolment_free (Enrolment *enrolment);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Enrolment, enrolment_free)

typedef struct Enrolments Enrolments;

Enrolments *enrolments_new (void);
void enrolments_free (Enrolments *enrolments);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Enrolments, enrolments_free)

guint enrolments_open (Enrolments *enrolments); /* after those that are too old have gone */

/* enrolments_room: whether @sender may open another; reason limit. */
gboolean enrolments_room (Enrolments *enrolments, const char *sender, GError **error);

/* enrolments_add: sets id, challenge and deadline of @enrolment, which is (transfer full). */
const Enrolment *enrolments_add (Enrolments *enrolments, Enrolment *enrolment, guint seconds);

/*
 * enrolments_take: removes it, so that nothing can use it again.
 * Returns: (transfer full): NULL with reason not-found for another's, an unknown or an old one.
 */
Enrolment *
enrolments_take (Enrolments *enrolments, const char *id, const char *sender, GError **error);

G_END_DECLS
