# SPDX-License-Identifier: LGPL-2.1-or-later
"""The mail server of the tests: Debian's aiosmtpd, which nobody here wrote.

It demands STARTTLS and AUTH and delivers into a Maildir; aiosmtpd's own handler adds the envelope
to each mail, as X-MailFrom and X-RcptTo.  Server is for the test that wants one; run as a program
this file is the server itself, under a user of its own.
"""

import hashlib
import mailbox
import os
import pwd
import signal
import socket
import subprocess
import sys

HOST, PORT = "smtp.example.com", 587
FOLDER = "/run/undersign-test/mail"
MAILDIR = f"{FOLDER}/maildir"
# While this file is there, a mail for SLOW is taken but not yet acknowledged.
HOLD, SLOW = f"{FOLDER}/hold", "slow@example.com"
LOG = "/run/undersign-test/log/mailserver.log"
USER, PASSWORD = "offboarding", "correct horse battery staple"


def make_certificates(folder):
    """An authority of our own and a certificate of it for the server; returns the authority's."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-days", "30", "-subj", "/CN=Undersign test authority", "-keyout", "ca.key",
            "-out", "ca.crt", "-addext", "basicConstraints=critical,CA:TRUE",
            "-addext", "keyUsage=critical,keyCertSign")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-subj", f"/CN={HOST}", "-keyout", "server.key", "-out", "server.csr")
    with open(f"{folder}/extensions", "w", encoding="utf-8") as file:
        file.write(f"subjectAltName=DNS:{HOST}\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
            "-CAcreateserial", "-days", "30", "-extfile", "extensions", "-out", "server.crt")
    return f"{folder}/ca.crt"


def trust(certificate):
    """What update-ca-certificates does, for this namespace's programs."""
    with open(certificate, encoding="ascii") as file:
        text = file.read()
    with open("/etc/ssl/certs/ca-certificates.crt", "a", encoding="ascii") as file:
        file.write(text)


class Server:
    """Starts the server with certificates that this namespace trusts; reads its Maildir."""

    def __init__(self, user="mailserver"):
        self.user = user
        self.process = None

    def start(self):
        entry = pwd.getpwnam(self.user)
        os.makedirs(FOLDER, exist_ok=True)
        os.makedirs(os.path.dirname(LOG), exist_ok=True)
        trust(make_certificates(FOLDER))
        for name in (FOLDER, *(f"{FOLDER}/{name}" for name in os.listdir(FOLDER))):
            os.chown(name, entry.pw_uid, entry.pw_gid)
        os.chmod(FOLDER, 0o700)
        with open(LOG, "ab") as log:
            self.process = subprocess.Popen(
                ["/usr/bin/python3", "-I", "-B", os.path.abspath(__file__), FOLDER], stdout=log,
                stderr=log, stdin=subprocess.DEVNULL, user=entry.pw_uid, group=entry.pw_gid,
                extra_groups=[], cwd="/", start_new_session=True,
                # The port is a privileged one: the listening socket is made as root.
                pass_fds=[self._listen()])
        self.listener.close()

    def _listen(self):
        self.listener = socket.create_server(("127.0.0.1", PORT), reuse_port=True)
        os.dup2(self.listener.fileno(), 9)
        os.set_inheritable(9, True)
        return 9

    def stop(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(120)
            self.process = None

    def mails(self):
        """What was delivered, oldest first."""
        if not os.path.isdir(MAILDIR):
            return []
        folder = mailbox.Maildir(MAILDIR, create=False)
        return [folder[key] for key in sorted(folder.keys())]

    @staticmethod
    def fingerprint():
        """Changes with anything in the Maildir."""
        digest = hashlib.sha256()
        for folder, _, names in sorted(os.walk(MAILDIR)):
            for name in sorted(names):
                digest.update(f"{folder}/{name}\0".encode())
                with open(f"{folder}/{name}", "rb") as file:
                    digest.update(hashlib.sha256(file.read()).digest())
        return digest.hexdigest()


def _serve(folder):
    import asyncio
    import ssl

    from aiosmtpd.handlers import Mailbox
    from aiosmtpd.smtp import SMTP, AuthResult

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(f"{folder}/server.crt", f"{folder}/server.key")

    class Patient(Mailbox):
        """Its answer to DATA is only given when nobody holds it up."""

        async def handle_DATA(self, server, session, envelope):
            while SLOW in envelope.rcpt_tos and os.path.exists(HOLD):
                print("holding", flush=True)
                await asyncio.sleep(0.1)
            return await super().handle_DATA(server, session, envelope)

    handler = Patient(MAILDIR)

    def authenticate(_server, _session, _envelope, _mechanism, data):
        good = (data.login, data.password) == (USER.encode(), PASSWORD.encode())
        return AuthResult(success=good, handled=False)

    def factory():
        return SMTP(handler, hostname=HOST, tls_context=context, require_starttls=True,
                    auth_required=True, auth_require_tls=True, authenticator=authenticate,
                    enable_SMTPUTF8=True)

    async def run():
        loop = asyncio.get_running_loop()
        server = await loop.create_server(factory, sock=socket.socket(fileno=9))
        stop = asyncio.Event()
        loop.add_signal_handler(signal.SIGTERM, stop.set)
        print("ready", flush=True)
        await stop.wait()
        server.close()

    asyncio.run(run())


if __name__ == "__main__":
    _serve(sys.argv[1])
