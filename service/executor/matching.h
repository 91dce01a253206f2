/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who satisfies what: persons on the left, places of requirements on the right (a requirement that
 * needs k persons has k places), at most one place a person.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define MATCHING_MAX_PLACES 64

/*
 * matching_solve: a largest matching.
 * @may: (array length=n_persons*n_places): may[person * n_places + place]
 * @out_person: (out) (array length=n_places): the person of each place, or -1
 *
 * Returns: how many places are taken.
 */
guint matching_solve (const gboolean *may, guint n_persons, guint n_places, int *out_person);

G_END_DECLS
