// SPDX-License-Identifier: LGPL-2.1-or-later
// What each client in JavaScript says and hears: one line of JSON a command, one an answer.
//
// The driver (scenarios.py) writes {"do": …}; an answer is a line "RESULT {…}" with what the
// framework said, or with the error that it raised.  Whatever else a framework prints is no answer.

import { createInterface } from "node:readline";

// How the driver wants the server started: the only argument of each client.
export const start = JSON.parse(process.argv[2]);

function answer(value) {
  process.stdout.write("\nRESULT " + JSON.stringify(value) + "\n");
}

// Answers each command by the function of that name, until there are no more.
export async function serve(handlers, close = async () => {}) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { do: name, ...command } = JSON.parse(line);
    try {
      answer({ said: (await handlers[name](command)) ?? null });
    } catch (error) {
      answer({ error: `${error?.name}: ${error?.message ?? error}` });
    }
  }
  await close();
  process.exit(0);
}
