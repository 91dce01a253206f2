/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One When= line: a condition on the values of a record.  It has three outcomes, since what cannot
 * be evaluated must match a rule that restricts and never one that allows; the caller decides by
 * the rule's decision what the third means.
 */
#pragma once

#include "service/policy/policy.h"
#include "service/record/record.h"

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  WHEN_ANY,
  WHEN_ALL,
  WHEN_NONE,
  WHEN_ANY_NOT,
  WHEN_EMPTY,
  WHEN_NOT_EMPTY,
  WHEN_IS,
  WHEN_AT_MOST,
  WHEN_AT_LEAST,
  WHEN_PAST,
} WhenTest;

typedef struct
{
  char *text;       /* as written, for people */
  char **arguments; /* one or more; more only with globs */
  WhenTest test;
  char **globs; /* of any, all, none and any-not; else NULL */
  char *value;  /* of is, <= and >=; else NULL */
} When;

typedef enum
{
  WHEN_FALSE,
  WHEN_TRUE,
  WHEN_UNKNOWN, /* cannot be evaluated; `all` over nothing is this too */
} WhenResult;

/* when_parse: NULL with an error whose message has no reason: the loader adds file and line. */
When *when_parse (const char *text, GError **error);
void when_free (When *when);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (When, when_free)

/* when_check: whether @when can be asked of @action at all: its arguments are there and of types
 * that the operator knows; in an allow rule also whether it leaves no value unlooked at. */
gboolean
when_check (const When *when, const PolicyAction *action, Decision decision, GError **error);

/* when_evaluate:
 * @now: wall time in seconds, for `past` */
WhenResult when_evaluate (const When *when, const Record *record, gint64 now);

/* glob_match: `*` stands for any characters but '@' and '/'; all else for itself. */
gboolean glob_match (const char *glob, const char *text);

G_END_DECLS
