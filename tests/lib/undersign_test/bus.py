# SPDX-License-Identifier: LGPL-2.1-or-later
"""Raw D-Bus calls from any uid: what somebody can send who does not use our library.

A Peer is a process of one user with one connection to the system bus.  It is forked before this
process has touched GLib's threads, so the test itself must never open a bus connection of its own.
"""

import functools
import multiprocessing.connection
import os
import signal
import sys
import time
import traceback

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

from . import people  # noqa: E402

SERVICE, PATH = "org.undersign1", "/org/undersign1"
AGENT, REQUEST = "org.undersign1.Agent", "org.undersign1.Request"
APPROVER, ADMIN = "org.undersign1.Approver", "org.undersign1.Admin"
LAUNCHER = "org.undersign1.Launcher"
ERROR = "org.undersign1.Error."


class BusError(Exception):
    """A D-Bus error: @name as on the wire, @text its message; @reason what stands before its colon."""

    def __init__(self, name, text):
        super().__init__(f"{name}: {text}")
        self.name, self.text = name, text
        self.reason = text.partition(":")[0]

    def __reduce__(self):
        return BusError, (self.name, self.text)


class File:
    """What a handle of a call stands for; made in the peer, so that it owns it."""

    def __init__(self, content=b"", kind="sealed"):
        self.content, self.kind = content, kind

    def open(self):
        """kinds: sealed, unsealed, part-sealed, fifo, zero, directory, regular, path-only, or a path."""
        if self.kind in ("sealed", "unsealed", "part-sealed"):
            import fcntl
            fd = os.memfd_create("test", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
            os.write(fd, self.content)
            seals = {"sealed": 0xF, "unsealed": 0, "part-sealed": 0x7}[self.kind]
            if seals:
                fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
            return fd
        if self.kind == "fifo":
            read, write = os.pipe()
            os.write(write, self.content)
            return read
        if self.kind == "zero":
            return os.open("/dev/zero", os.O_RDONLY)
        if self.kind == "directory":
            return os.open("/", os.O_RDONLY | os.O_DIRECTORY)
        if self.kind == "path-only":
            return os.open("/etc/passwd", os.O_PATH)
        if self.kind == "regular":
            fd = os.open(os.environ["HOME"], os.O_TMPFILE | os.O_RDWR, 0o600)
            os.write(fd, self.content)
            return fd
        return os.open(self.kind, os.O_RDONLY)


class _Worker:
    """The peer's side: one connection, one command at a time."""

    def __init__(self):
        address = Gio.dbus_address_get_for_bus_sync(Gio.BusType.SYSTEM, None)
        flags = (Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
                 | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION)
        self.bus = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)
        self.signals = []

    def name(self):
        return self.bus.get_unique_name()

    def call(self, path, interface, member, signature, arguments, files, destination, timeout):
        """@arguments: a Python value for @signature, or GVariant text, which may repeat keys."""
        if signature is None:
            body = None
        elif isinstance(arguments, str):
            body = GLib.Variant.parse(GLib.VariantType.new(signature), arguments, None, None)
        else:
            body = build(signature, arguments)
        message = Gio.DBusMessage.new_method_call(destination, path, interface, member)
        if body is not None:
            message.set_body(body)
        if files:
            fds = [file.open() for file in files]
            message.set_unix_fd_list(Gio.UnixFDList.new_from_array(fds))
        reply, _ = self.bus.send_message_with_reply_sync(
            message, Gio.DBusSendMessageFlags.NONE, int(timeout * 1000), None)
        if reply.get_message_type() == Gio.DBusMessageType.ERROR:
            body = reply.get_body()
            text = body.get_child_value(0).unpack() if body is not None and body.n_children() else ""
            raise BusError(reply.get_error_name(), text)
        received = []
        fds = reply.get_unix_fd_list()
        if fds is not None:
            for fd in fds.steal_fds():
                size = os.fstat(fd).st_size
                received.append(os.pread(fd, size, 0))
                os.close(fd)
        body = reply.get_body()
        return (unpack(body) if body is not None else (),
                body.get_type_string() if body is not None else "()", received)

    def subscribe(self, interface):
        self.bus.signal_subscribe(None, interface, None, None, None, Gio.DBusSignalFlags.NONE,
                                  lambda bus, sender, path, interface, member, body:
                                  self.signals.append((sender, path, interface, member,
                                                       unpack(body))))

    def take_signals(self, timeout):
        """The signals that came, waiting up to @timeout for a first one."""
        context = GLib.MainContext.default()
        end = time.monotonic() + timeout
        while True:
            while context.pending():
                context.iteration(False)
            if self.signals or time.monotonic() > end:
                break
            time.sleep(0.01)
        taken, self.signals = self.signals, []
        return taken

    def own_name(self, name):
        return self.bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus",
                                  "org.freedesktop.DBus", "RequestName",
                                  GLib.Variant("(su)", (name, 4)), None,
                                  Gio.DBusCallFlags.NONE, 60000, None).unpack()[0]

    def emit(self, destination, path, interface, member, signature, arguments):
        self.bus.emit_signal(destination, path, interface, member, build(signature, arguments))
        self.bus.flush_sync(None)

    def run(self, argv, timeout, text):
        import subprocess
        done = subprocess.run(argv, capture_output=True, text=text, timeout=timeout, check=False)
        return done.returncode, done.stdout, done.stderr


# What GLib.Variant() finds out each time.
_BASIC = {"s": GLib.Variant.new_string, "u": GLib.Variant.new_uint32,
          "t": GLib.Variant.new_uint64, "b": GLib.Variant.new_boolean}


def build(signature, value):
    """GLib.Variant(), with bytes for `ay` and (signature, value) pairs for `v`; one that is built is left."""
    if isinstance(value, GLib.Variant):
        return value
    if signature == "v":
        inner, content = value
        return GLib.Variant.new_variant(build(inner, content))
    if signature == "ay":
        return GLib.Variant.new_from_bytes(GLib.VariantType.new("ay"), GLib.Bytes.new(bytes(value)),
                                           True)
    if signature[0] in "({":
        inner, values = split(signature[1:-1]), list(value)
        if len(inner) != len(values):
            raise ValueError(f"{len(values)} values for {signature}")
        children = [build(kind, item) for kind, item in zip(inner, values)]
        if signature[0] == "(":
            return GLib.Variant.new_tuple(*children)
        return GLib.Variant.new_dict_entry(*children)
    if signature[0] == "a":
        items = value.items() if isinstance(value, dict) else value
        return GLib.Variant.new_array(GLib.VariantType.new(signature[1:]),
                                      [build(signature[1:], item) for item in items])
    basic = _BASIC.get(signature)
    return basic(value) if basic is not None else GLib.Variant(signature, value)


@functools.cache
def split(signatures):
    """The single complete types of a signature."""
    found, start, depth = [], 0, 0
    for end, letter in enumerate(signatures, 1):
        depth += (letter in "({") - (letter in ")}")
        if depth == 0 and letter != "a":
            found.append(signatures[start:end])
            start = end
    return found


def unpack(variant):
    """Variant.unpack(), with bytes for `ay` and a list of pairs where a dictionary repeats a key."""
    kind = variant.get_type_string()
    if kind == "v":
        return unpack(variant.get_variant())
    if kind == "ay":
        return variant.get_data_as_bytes().get_data() or b""
    if kind == "s":
        return variant.get_string()
    if kind[0] not in "(a{":
        return variant.unpack()
    children = [unpack(variant.get_child_value(i)) for i in range(variant.n_children())]
    if kind[0] in "({":
        return tuple(children)
    if kind[:2] == "a{" and len({child[0] for child in children}) == len(children):
        return dict(children)
    return children


class Peer:
    """A user's process with a bus connection, driven from the test."""

    def __init__(self, user):
        self.user = user
        self.connection, theirs = multiprocessing.connection.Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self.connection.close()
            _serve(user, theirs)
        theirs.close()
        self._result()

    def _result(self):
        good, value = self.connection.recv()
        if good:
            return value
        raise value

    def _ask(self, method, *arguments):
        self.connection.send((method, arguments))
        return self._result()

    def start(self, method, *arguments):
        """Sends a command and does not wait: finish() has the result."""
        self.connection.send((method, arguments))

    def finish(self):
        return self._result()

    @property
    def name(self):
        return self._ask("name")

    def call(self, interface, member, signature=None, arguments=None, path=PATH, files=(),
             destination=None, timeout=120, full=False):
        """One method call: the tuple of its results, or a BusError.  @full: also type and files."""
        if destination is None:
            destination = interface if interface in (ADMIN, LAUNCHER) else SERVICE
        result = self._ask("call", path, interface, member, signature, arguments, list(files),
                           destination, timeout)
        return result if full else result[0]

    def call_later(self, interface, member, signature=None, arguments=None, path=PATH, files=(),
                   destination=None, timeout=120):
        """As call(), but finish() waits for the result: for races."""
        self.start("call", path, interface, member, signature, arguments, list(files),
                   destination or SERVICE, timeout)

    def error(self, *arguments, **options):
        """The BusError that a call must end in."""
        try:
            result = self.call(*arguments, **options)
        except BusError as error:
            return error
        raise AssertionError(f"{self.user} was not refused: {arguments[1]} gave {result!r}")

    def subscribe(self, interface):
        self._ask("subscribe", interface)

    def signals(self, timeout=2.0):
        return self._ask("take_signals", timeout)

    def own_name(self, name):
        return self._ask("own_name", name)

    def emit(self, destination, path, interface, member, signature, arguments):
        self._ask("emit", destination, path, interface, member, signature, arguments)

    def run(self, *argv, timeout=120, text=True):
        return self._ask("run", argv, timeout, text)

    def close(self):
        """Ends the process, and with it the connection, as a crash would."""
        if self.pid:
            self.connection.close()
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _serve(user, connection):
    """The forked process; never returns."""
    try:
        environment = people.environment(user)
        people.become(user)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(environment["HOME"] if os.path.isdir(environment["HOME"]) else "/")
        worker = _Worker()
        connection.send((True, None))
        while True:
            method, arguments = connection.recv()
            try:
                connection.send((True, getattr(worker, method)(*arguments)))
            except BusError as error:
                connection.send((False, error))
            except GLib.Error as error:
                name = Gio.DBusError.get_remote_error(error) or "local"
                connection.send((False, BusError(name, error.message)))
            except Exception:
                connection.send((False, RuntimeError(traceback.format_exc())))
    except EOFError:
        pass
    except BaseException as error:
        try:
            connection.send((False, RuntimeError(f"no bus for {user}: {error}")))
        except OSError:
            pass
    finally:
        os._exit(0)
