#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An SMTP server on loopback that keeps what it gets and misbehaves when told to.

usage: server.py certificates DIR            a throw-away authority and certificates in DIR
       server.py run DIR SECURITY CERTIFICATE FAULT

`run` prints its port, then serves until its input ends.  Into DIR it writes `wire`, what it read after
TLS was taken off; and for each mail it took a folder mail-N, with the mail as it came and as Python's
parser reads it.  SECURITY is starttls, tls or plain; CERTIFICATE is the name of one in DIR/..
"""

import asyncio
import email
import email.policy
import logging
import os
import re
import ssl
import subprocess
import sys

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

USER, PASSWORD = b"agent", b"hunter2-and-more"
AFTER_DATA = {"reject-5": "554 5.7.1 this is not wanted here, hunter2-and-more",
              "reject-4": "451 4.3.0 come back later",
              "odd-reply": "354 go on"}


# --- certificates ---

def openssl(*arguments, cwd):
    subprocess.run(["openssl", *arguments], cwd=cwd, check=True, capture_output=True)


def make_certificates(folder):
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    for authority in ("ca", "other-ca"):
        openssl("req", "-x509", *key, "-keyout", f"{authority}.key", "-out", f"{authority}.pem",
                "-subj", f"/CN={authority}", "-addext", "keyUsage=critical,keyCertSign", cwd=folder)
    for name, host in (("good", "localhost"), ("wrong-name", "mail.example.com")):
        with open(f"{folder}/{name}.ext", "w", encoding="ascii") as file:
            file.write(f"subjectAltName=DNS:{host}\n")
        openssl("req", "-new", *key[:-2], "-keyout", f"{name}.key", "-out", f"{name}.csr",
                "-subj", f"/CN={host}", cwd=folder)
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                "-CAcreateserial", "-days", "2", "-extfile", f"{name}.ext", "-out", f"{name}.pem",
                cwd=folder)


# --- the server ---

def write(path, data):
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else str(data).encode())


def all_defects(message):
    defects = list(message.defects)
    for value in message.values():
        defects += getattr(value, "defects", [])
    for part in message.iter_parts() if message.is_multipart() else ():
        defects += all_defects(part)
    return defects


def keep(folder, envelope, session):
    """One mail: the bytes as they came, and what an independent parser makes of them."""
    count = sum(name.startswith("mail-") for name in os.listdir(folder))
    place = f"{folder}/mail-{count}"
    message = email.message_from_bytes(envelope.original_content, policy=email.policy.default)
    os.mkdir(place)
    write(f"{place}/raw", envelope.original_content)
    write(f"{place}/from", envelope.mail_from)
    write(f"{place}/recipients", " ".join(envelope.rcpt_tos))
    write(f"{place}/user", session.auth_data or "nobody")
    write(f"{place}/hello", session.host_name)
    write(f"{place}/headers", " ".join(message.keys()))
    for name in ("to", "cc", "subject", "message-id", "date"):
        write(f"{place}/{name}", message[name] or "")
    write(f"{place}/body", message.get_body().get_content().replace("\r\n", "\n"))
    for i, part in enumerate(message.iter_attachments()):
        write(f"{place}/attachment-{i}", part.get_payload(decode=True))
        write(f"{place}/name-{i}", part.get_filename())
    write(f"{place}/defects", " ".join(repr(defect) for defect in all_defects(message)))


class Handler:
    def __init__(self, folder, fault):
        self.folder, self.fault = folder, fault

    async def handle_EHLO(self, server, session, envelope, hostname, responses):
        session.host_name = hostname
        if self.fault == "no-auth":
            return [line for line in responses if not line.startswith("250-AUTH")]
        if self.fault == "odd-auth":
            return [re.sub("AUTH.*", "AUTH GSSAPI XOAUTH2", line) for line in responses]
        return responses

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("refused"):
            return "550 5.1.1 no such user"
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 OK"

    async def handle_DATA(self, server, session, envelope):
        if self.fault in AFTER_DATA:
            return AFTER_DATA[self.fault]
        keep(self.folder, envelope, session)
        if self.fault == "die-after-data":
            server.transport.abort()
        if self.fault == "cut-reply":
            server.transport.write(b"250-2.0.0 half\r\n")
            server.transport.close()
        if self.fault == "hang":
            await asyncio.sleep(3600)
        return "250 2.0.0 OK, hunter2-and-more"


class Server(SMTP):
    folder = fault = None

    def data_received(self, data):
        with open(f"{self.folder}/wire", "ab") as file:
            file.write(data)
        super().data_received(data)

    async def smtp_DATA(self, argument):
        if self.fault == "die-at-data":
            self.transport.abort()
            return
        if self.fault == "die-in-data":
            self.transport.write(b"354 go on\r\n")
            await self._reader.read(1000)
            self.transport.abort()
            return
        await super().smtp_DATA(argument)


    async def smtp_QUIT(self, argument):
        if self.fault == "hang-at-quit":
            await asyncio.sleep(3600)
        await super().smtp_QUIT(argument)


def authenticate(server, session, envelope, mechanism, data):
    good = isinstance(data, LoginPassword) and data.login == USER and data.password == PASSWORD
    return AuthResult(success=good, handled=False, auth_data=data.login.decode())


async def serve(folder, security, certificate, fault):
    logging.disable()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(f"{folder}/../{certificate}.pem", f"{folder}/../{certificate}.key")
    Server.folder, Server.fault = folder, fault
    loop = asyncio.get_running_loop()

    def factory():
        return Server(Handler(folder, fault), loop=loop, hostname="localhost",
                      data_size_limit=1000 if fault == "small" else None,
                      tls_context=context if security == "starttls" and fault != "no-starttls" else None,
                      authenticator=authenticate,
                      auth_required=False, auth_require_tls=False)

    server = await loop.create_server(factory, "127.0.0.1", 0,
                                      ssl=context if security == "tls" else None)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.buffer.read)


def main():
    if sys.argv[1] == "certificates":
        make_certificates(sys.argv[2])
        return
    try:
        asyncio.run(serve(*sys.argv[2:6]))
    finally:
        os._exit(0)


main()
