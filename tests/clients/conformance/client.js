// SPDX-License-Identifier: LGPL-2.1-or-later
// The protocol's own conformance suite, which knows servers by HTTP alone: this is the way from there
// to one that reads its standard input, a process of it for each session.

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { mkdtempSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { serve, start } from "./line.js";

const program = join(dirname(fileURLToPath(import.meta.url)),
                     "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const sessions = new Map();
const TIMEOUT = "600000"; // milliseconds: a scenario ends on any machine
// How HTTP says what the errors of a request without a session say.
const statuses = { "-32601": 404, "-32602": 400, "-32021": 400, "-32022": 400 };

// What the suite calls its tools, of ours: what is never a task is the look at a request, what a person is
// to answer in time a payment, and what is to go on for a minute a mail, which nobody answers.
const tools = {
  greet: () => ({ name: "request_status", arguments: { request_id: "0".repeat(32) } }),
  slow_compute: ({ seconds, label }) => seconds < 60
    ? { name: "test_pay", arguments: { amount: `${seconds + 1}.00 EUR`, account: label,
                                       invoice: join(process.env.HOME, "report.pdf") } }
    : { name: "mail_send", arguments: { to: ["security@example.com"], subject: label } },
  failing_job: () => ({ name: "test_fail", arguments: { target: "conformance" } }),
  test_simple_text: () => tools.greet(),
  test_error_handling: () => ({ name: "test_fail", arguments: {} }),
  test_tool_with_progress: () => ({ name: "mail_send",
                                    arguments: { to: ["security@example.com"], subject: "progress" } }),
};

function rename(message) {
  const ours = message.method === "tools/call" ? tools[message.params?.name] : undefined;
  return ours === undefined ? message
    : { ...message, params: { ...message.params, ...ours(message.params.arguments ?? {}) } };
}

// A server for one session, or for one request without any; @waiting: by id, who waits for its answer.
class Session {
  waiting = new Map();
  onNote = () => {};

  constructor() {
    this.child = spawn(start.command, start.args, { stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: this.child.stdout }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      if (method === undefined)
        this.waiting.get(id)?.(line);
      else
        this.onNote(line);
    });
  }

  // The line that answers @message, null where nothing does.
  send(message) {
    this.child.stdin.write(JSON.stringify(message) + "\n");
    return message.id === undefined ? null
      : new Promise((resolve) => this.waiting.set(message.id, resolve));
  }
}

// A stream of what is told, until the answer, or until who listens goes; @leave: what to do then.
function listen(session, message, response, headers, leave) {
  const put = (line) => response.write(`data: ${line}\n\n`);
  response.writeHead(200, { ...headers, "content-type": "text/event-stream" });
  session.onNote = put;
  session.send(message).then((line) => { put(line); response.end(); });
  response.on("close", leave);
}

async function pass(request, response) {
  let name = request.headers["mcp-session-id"];
  if (request.method === "DELETE") {
    sessions.get(name)?.child.stdin.end();
    response.writeHead(200).end();
    return;
  }
  if (request.method !== "POST") {
    response.writeHead(405).end();
    return;
  }
  const message = rename(JSON.parse(Buffer.concat(await request.toArray()).toString()));
  const meta = message.params?._meta ?? {};
  if (message.method === "initialize" && !("io.modelcontextprotocol/protocolVersion" in meta)) {
    name = `session-${sessions.size}`;
    sessions.set(name, new Session());
  }
  const session = sessions.get(name) ?? new Session();
  const headers = { "content-type": "application/json" };
  if (sessions.has(name))
    headers["mcp-session-id"] = name;
  const leave = () => sessions.has(name) || session.child.stdin.end();
  if (message.method === "subscriptions/listen" || "progressToken" in meta) {
    listen(session, message, response, headers, leave);
    return;
  }
  const line = await session.send(message);
  leave();
  const status = sessions.has(name) ? 200 : statuses[JSON.parse(line ?? "{}").error?.code] ?? 200;
  if (line === null)
    response.writeHead(202).end();
  else
    response.writeHead(status, headers).end(line);
}

const server = createServer(pass);
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

function run(...words) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [program, ...words],
                        { cwd: mkdtempSync(join(process.env.HOME, "conformance-")) });
    let said = "";
    child.stdout.on("data", (piece) => { said += piece; });
    child.stderr.on("data", (piece) => { said += piece; });
    child.on("close", (status) => resolve({ status, said }));
  });
}

await serve({
  list: () => run("list", "--server"),
  conform: ({ scenario }) => run("server", "--url", `http://127.0.0.1:${server.address().port}/mcp`,
                                 "--scenario", scenario, "--verbose", "--timeout", TIMEOUT),
}, async () => {
  for (const { child } of sessions.values())
    child.stdin.end();
});
