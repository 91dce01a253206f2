/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the first answer or execution of a process costs beyond itself: SQLite compiles each
 * statement, which takes longer than to run it.  A process that waits does that beforehand;
 * query_new() finds them.  Nothing is read or written by it.
 */
#include "service/ledger/private.h"

void
ledger_warm (Ledger *ledger)
{
  static const char *const statements[] = {
    sql_halted,      sql_status, sql_passkey,    sql_answers,      sql_answer_stored,
    sql_counter,     sql_limit,  sql_audit_head, sql_audit_insert, sql_answer_insert,
    sql_answer_used, sql_intent, sql_consume,    sql_finish,
  };

  for (gsize i = 0; i < G_N_ELEMENTS (statements); i++)
    query_prepare (ledger, statements[i]);
}
