# SPDX-License-Identifier: LGPL-2.1-or-later
"""Security keys on pseudo-terminals: libfido2 opens them like the hidraw devices of real ones.

libfido2 wants a character device; where that has no report descriptor it takes reports of 64 bytes.
The authenticators behind them are other people's, see tests/authenticator.
"""

import os
import shutil
import subprocess
import tempfile
import termios
import tty

AUTHENTICATORS = os.environ.get("UNDERSIGN_AUTHENTICATORS", "")
AAGUID_OID = "1.3.6.1.4.1.45724.1.1.4"
REPORT = 64
PIN_AAGUID = "8bc5496807b14d5fb249607f5d527da2"  # what Trussed's application says of itself


def available():
    """Whether tests/authenticator/build has made them."""
    return bool(AUTHENTICATORS) and os.path.exists(os.path.join(AUTHENTICATORS, "pin"))


class SecurityKey:
    """A key that is plugged in until it is closed."""

    def __init__(self, folder, environment=None):
        self.folder = folder
        self.button = os.path.join(folder, "button")
        self.environment = environment or {}
        self.process = self.slave = None
        self.finger("touch")
        self.plug_in()

    def command(self):
        raise NotImplementedError

    def plug_in(self):
        master, self.slave = os.openpty()
        tty.setraw(self.slave)
        # a terminal may break a report in two, which no HID device does
        attributes = termios.tcgetattr(self.slave)
        attributes[6][termios.VMIN] = REPORT
        termios.tcsetattr(self.slave, termios.TCSANOW, attributes)
        self.path = os.ttyname(self.slave)
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=master, stdout=master,
                                            stderr=log, env={**os.environ, **self.environment},
                                            close_fds=True)
        os.close(master)

    def unplug(self):
        self.process.kill()
        self.process.wait()
        os.close(self.slave)

    def finger(self, what):
        """What is on the button: "touch", "" or, on a reader, "stranger" and "deny"."""
        with open(self.button + ".new", "w", encoding="utf-8") as file:
            file.write(what)
        os.rename(self.button + ".new", self.button)


class PinKey(SecurityKey):
    """Trussed's FIDO application: a PIN, and the attestation of @maker."""

    def __init__(self, folder, maker, environment=None):
        self.maker = maker
        super().__init__(folder, environment)

    def command(self):
        return [os.path.join(AUTHENTICATORS, "pin"), os.path.join(self.folder, "state"),
                self.maker.leaf, self.maker.key, self.button]

    def give(self, user, pin):
        """Sets its @pin, and puts it into the hands of @user alone."""
        tool = os.path.join(os.environ["UNDERSIGN_BUILD"], "tests/card/key-tool")
        subprocess.run([tool, self.path, pin], check=True, timeout=60)
        shutil.chown(self.path, user)
        os.chmod(self.path, 0o600)


class UvKey(SecurityKey):
    """Nikkei's emulator: it verifies its person by itself; nobody attests it."""

    def command(self):
        return ["node", os.path.join(AUTHENTICATORS, "uv/ctaphid.js"), self.button]


class Maker:
    """A maker of keys: a root, an intermediate, and the certificate and key of one model.

    Without @through, the root signs the keys; @aaguid is what the certificate says of them."""

    def __init__(self, folder, through=False, aaguid=PIN_AAGUID):
        self.folder = folder
        self.root = self._issue("root", "/CN=Test Root", "basicConstraints=critical,CA:TRUE")
        self.intermediate = None
        if through:
            self.intermediate = self._issue("intermediate", "/CN=Test Intermediate",
                                            "basicConstraints=critical,CA:TRUE,pathlen:0", "root")
        self._issue("leaf", "/C=XX/O=Test Maker/OU=Authenticator Attestation/CN=Test Key",
                    f"basicConstraints=critical,CA:FALSE\n{AAGUID_OID}=DER:0410{aaguid}",
                    "intermediate" if through else "root")
        self.leaf = self._path("leaf.der")
        self._openssl("x509", "-in", self._path("leaf.pem"), "-outform", "DER", "-out", self.leaf)
        self.key = self._path("scalar")
        self._write_scalar()

    def _path(self, name):
        return os.path.join(self.folder, name)

    @staticmethod
    def _openssl(*arguments):
        return subprocess.run(["openssl", *arguments], check=True, capture_output=True).stdout

    def _issue(self, name, subject, extensions, by=None):
        self._openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out",
                      self._path(f"{name}.key"))
        self._openssl("req", "-new", "-key", self._path(f"{name}.key"), "-subj", subject,
                      "-out", self._path(f"{name}.csr"))
        signer = ["-CA", self._path(f"{by}.pem"), "-CAkey", self._path(f"{by}.key"),
                  "-CAcreateserial"] if by else ["-signkey", self._path(f"{name}.key")]
        with tempfile.NamedTemporaryFile("w", suffix=".cnf") as file:
            file.write(extensions + "\n")
            file.flush()
            self._openssl("x509", "-req", "-in", self._path(f"{name}.csr"), *signer, "-days", "30",
                          "-extfile", file.name, "-out", self._path(f"{name}.pem"))
        return self._path(f"{name}.pem")

    def _write_scalar(self):
        """The 32 bytes of the private key, from the fixed form of RFC 5915."""
        der = self._openssl("ec", "-in", self._path("leaf.key"), "-outform", "DER")
        assert der[5:7] == b"\x04\x20"
        with open(self.key, "wb") as file:
            file.write(der[7:39])
