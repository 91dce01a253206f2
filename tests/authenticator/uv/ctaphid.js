// SPDX-License-Identifier: LGPL-2.1-or-later
"use strict";
/*
 * A security key for the tests that verifies its person by itself, as one with a fingerprint reader
 * does, and has no PIN: Nikkei's WebAuthn emulator, behind the reports of CTAPHID.
 *
 * usage: ctaphid.js BUTTON
 *
 * BUTTON is a file that says what is on the reader: "touch" its person, "stranger" somebody else,
 * "deny" its person who refuses; anything else is nobody.  HID reports come on standard input, each
 * with its report number before it, and go to standard output.
 */
const fs = require("node:fs");
const cbor = require("cbor");
const { AuthenticatorEmulator } = require("nid-webauthn-emulator");

const REPORT = 64;
const PING = 0x01, INIT = 0x06, CBOR = 0x10, CANCEL = 0x11, KEEPALIVE = 0x3b, ERROR = 0x3f;
const MAKE_CREDENTIAL = 1, GET_ASSERTION = 2, GET_INFO = 4;
const OK = 0x00, OTHER = 0x7f, CANCELLED = 0x2d, TIMEOUT = 0x2f;
const DENIED = 0x27, UV_INVALID = 0x3f;
const WAIT_MS = Number(process.env.TOUCH_TIMEOUT_MS || 30000);
const button = process.argv[2];

// What the emulator is told about its person; a touch has been waited for by then.
const interaction = (user, options) => ({
  user,
  options: { uv: options?.up !== false, up: options?.up !== false },
});
const authenticator = new AuthenticatorEmulator({
  userMakeCredentialInteraction: interaction,
  userGetAssertionInteraction: interaction,
});

function send(channel, command, payload) {
  let report = Buffer.alloc(REPORT);
  report.writeUInt32BE(channel, 0);
  report[4] = command | 0x80;
  report.writeUInt16BE(payload.length, 5);
  let at = payload.copy(report, 7);
  fs.writeSync(1, report);
  for (let sequence = 0; at < payload.length; sequence++) {
    report = Buffer.alloc(REPORT);
    report.writeUInt32BE(channel, 0);
    report[4] = sequence;
    at += payload.copy(report, 5, at);
    fs.writeSync(1, report);
  }
}

// The emulator writes members that are absent as `undefined`, which no authenticator does.
function withoutUndefined(value) {
  if (value instanceof Map)
    return new Map([...value].filter(([, v]) => v !== undefined)
      .map(([k, v]) => [k, withoutUndefined(v)]));
  if (value !== null && typeof value === "object" && value.constructor === Object)
    return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)
      .map(([k, v]) => [k, withoutUndefined(v)]));
  return value;
}

function answer(command, data) {
  try {
    const arguments_ = data.length > 0 ? { data: new Uint8Array(data) } : {};
    const reply = authenticator.command({ command, ...arguments_ });
    if (!reply.data)
      return Buffer.from([reply.status]);
    const members = withoutUndefined(cbor.decodeFirstSync(Buffer.from(reply.data)));
    return Buffer.concat([Buffer.from([OK]), cbor.encodeCanonical(members)]);
  } catch (error) {
    return Buffer.from([error.status ?? OTHER]);
  }
}

// Whether a touch is wanted: not to tell of itself, nor where the host asks whether a key is held.
function wantsTouch(command, data) {
  if (command === MAKE_CREDENTIAL)
    return true;
  if (command !== GET_ASSERTION)
    return false;
  const options = cbor.decodeFirstSync(data).get(5);
  const up = options instanceof Map ? options.get("up") : options?.up;
  return up !== false;
}

let waiting = null; // { channel, timer }: at most one touch is waited for

function finish(channel, reply) {
  if (waiting)
    clearInterval(waiting.timer);
  waiting = null;
  send(channel, CBOR, reply);
}

function waitForTouch(channel, command, data) {
  const begun = Date.now();
  const look = () => {
    let finger = "";
    try {
      finger = fs.readFileSync(button, "utf8").trim();
    } catch {}
    if (finger === "touch")
      finish(channel, answer(command, data));
    else if (finger === "stranger")
      finish(channel, Buffer.from([UV_INVALID]));
    else if (finger === "deny")
      finish(channel, Buffer.from([DENIED]));
    else if (Date.now() - begun > WAIT_MS)
      finish(channel, Buffer.from([TIMEOUT]));
    else
      send(channel, KEEPALIVE, Buffer.from([2]));
  };
  waiting = { channel, timer: setInterval(look, 50) };
}

let channels = 0;

function handle(channel, command, payload) {
  if (command === INIT && payload.length === 8) {
    const tail = Buffer.alloc(9);
    tail.writeUInt32BE(++channels, 0);
    tail[4] = 2;
    tail[8] = 0x0c; // CBOR, and no messages of U2F
    send(channel, INIT, Buffer.concat([payload, tail]));
  } else if (command === PING)
    send(channel, PING, payload);
  else if (command !== CBOR || payload.length === 0)
    send(channel, ERROR, Buffer.from([1]));
  else if (waiting)
    send(channel, ERROR, Buffer.from([6]));
  else if (wantsTouch(payload[0], payload.subarray(1)))
    waitForTouch(channel, payload[0], payload.subarray(1));
  else if ([MAKE_CREDENTIAL, GET_ASSERTION, GET_INFO].includes(payload[0]))
    send(channel, CBOR, answer(payload[0], payload.subarray(1)));
  else
    send(channel, CBOR, Buffer.from([1]));
}

let input = Buffer.alloc(0);
let message = null; // { channel, command, wanted, payload }

function absorb(report) {
  if (report[4] & 0x80) {
    const channel = report.readUInt32BE(0);
    const command = report[4] & 0x7f;
    if (command === CANCEL) {
      if (waiting)
        finish(waiting.channel, Buffer.from([CANCELLED]));
      return;
    }
    message = { channel, command, wanted: report.readUInt16BE(5), payload: report.subarray(7) };
  } else if (message)
    message.payload = Buffer.concat([message.payload, report.subarray(5)]);
  if (message && message.payload.length >= message.wanted) {
    const { channel, command, wanted, payload } = message;
    message = null;
    handle(channel, command, payload.subarray(0, wanted));
  }
}

// Not process.stdin, which would treat a pseudo-terminal as one.
const reports = fs.createReadStream(null, { fd: 0 });
reports.on("data", (data) => {
  input = Buffer.concat([input, data]);
  for (; input.length > REPORT; input = input.subarray(1 + REPORT))
    absorb(Buffer.from(input.subarray(1, 1 + REPORT)));
});
reports.on("end", () => process.exit(0));
reports.on("error", () => process.exit(0)); // unplugged
