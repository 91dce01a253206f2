/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The keys that a verifier was given by another way: files of undersign.key/1, or their ids. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/*
 * given_keys_load:
 * @words: (nullable) (array zero-terminated=1): each "sha256:…" or the path of a file
 * Returns: (element-type utf8): ids; reason bad-key or bad-value, which names the word.
 */
GPtrArray *given_keys_load (char **words, GError **error);

gboolean given_keys_have (GPtrArray *keys, const char *id);

G_END_DECLS
