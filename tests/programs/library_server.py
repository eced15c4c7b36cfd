"""An interpreter that has imported heavy libraries, and forks to run a program with them.

    python library_server.py SOCKET LIBRARY...

`library_client.py`, which stands for `python`, sends what an interpreter is started with: words,
environment, open files. The child of the fork does with them what an interpreter does.
This file is run from a folder named site-packages: its one frame below those of the program is
then nobody's own code.
"""

import array
import atexit
import contextlib
import ctypes
import fcntl
import gc
import importlib
import importlib.util
import io
import marshal
import os
import random
import runpy
import selectors
import shutil
import signal
import socket
import struct
import sys
import threading
import types
import warnings
import weakref

MOST_FILES = 250  # that one message may carry
HEAD = struct.Struct("I")
INT = array.array("i").itemsize
TEST_ID = b"ZEROIN_TEST_ID="
OPTIONS_WITH_VALUE = "WX"


# --- the server -----------------------------------------------------------------------------


def serve_programs(path):
    """Fork for each client; return only in a child, with what its client has sent."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen(64)
        print("ready", flush=True)
        watched = selectors.DefaultSelector()
        watched.register(server, selectors.EVENT_READ)
        watched.register(0, selectors.EVENT_READ)
        running = Running(watched)
        while True:
            for key, _ in watched.select():
                if key.fd == 0:
                    running.end_all()
                    shutil.rmtree(os.path.dirname(path), ignore_errors=True)
                    os._exit(0)
                elif key.fileobj is server:
                    client = server.accept()[0]
                    order, files = receive_order(client)
                    if order is None:
                        client.close()
                        continue
                    child = os.fork()
                    if child == 0:
                        os.setpgid(0, 0)
                        client.close()
                        running.forget_all()
                        return order, files
                    for file in files:
                        os.close(file)
                    running.add(child, client)
                elif key.data is not None:
                    key.data()


def receive_order(client):
    """Read one message and the files that come with it; None from a client that has died."""
    ancillary = socket.CMSG_SPACE(MOST_FILES * INT)
    head, messages, _, _ = client.recvmsg(HEAD.size, ancillary)
    files = array.array("i")
    for _, _, data in messages:
        files.frombytes(data[: len(data) - len(data) % INT])
    if len(head) < HEAD.size:
        return None, files
    left, parts = HEAD.unpack(head)[0], []
    while left:
        part = client.recv(left)
        if not part:
            return None, files
        parts.append(part)
        left -= len(part)
    return marshal.loads(b"".join(parts)), list(files)


class Running:
    """The children, each with the client that waits for it."""

    def __init__(self, watched):
        self.watched = watched
        self.children = {}

    def add(self, child, client):
        """Watch both: the child's end goes to the client, the client's signals to the child."""
        ended = os.pidfd_open(child)
        self.children[child] = (client, ended)
        self.watched.register(ended, selectors.EVENT_READ, lambda: self.tell_end(child))
        self.watched.register(client, selectors.EVENT_READ, lambda: self.pass_signal(child))

    def tell_end(self, child):
        """The child has ended: tell its client how."""
        client, ended = self.children.pop(child, (None, None))
        if client is None:
            return
        self.watched.unregister(ended)
        os.close(ended)
        status = os.waitpid(child, 0)[1]
        with contextlib.suppress(KeyError):
            self.watched.unregister(client)
        with contextlib.suppress(OSError):
            client.sendall(HEAD.pack(status))
        client.close()

    def pass_signal(self, child):
        """A byte is a signal's number; the end of the client is the end of its child."""
        if child not in self.children:
            return
        client = self.children[child][0]
        try:
            numbers = client.recv(64)
        except OSError:
            numbers = b""
        if not numbers:
            self.watched.unregister(client)
            numbers = bytes([signal.SIGKILL])
        for number in numbers:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, number)

    def forget_all(self):
        """In a child: these numbers of files will be others', and must not be closed later."""
        for client, ended in self.children.values():
            client.close()
            os.close(ended)
        self.watched.close()

    def end_all(self):
        """Nobody is there any more to wait for them."""
        for child in self.children:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)


# --- the child ------------------------------------------------------------------------------


def take_files(files, numbers):
    """Have the client's open files, under its numbers, and no others."""
    above = max([*files, *numbers]) + 1
    moved = [fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, above) for file in files]
    os.closerange(0, above)
    for place, number in enumerate(numbers):
        os.dup2(moved[place], number, inheritable=True)
        os.close(moved[place])


def take_environment(environment):
    """Have the client's variables, also where others see them: in /proc."""
    os.environ.clear()
    for name, value in environment.items():
        os.environb[name] = value
    with open("/proc/self/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    start, end = int(fields[47]), int(fields[48])
    pairs = [name + b"=" + value for name, value in environment.items()]
    pairs.sort(key=lambda pair: not pair.startswith(TEST_ID))
    text = b"\0".join(pairs)[: end - start - 1]
    ctypes.memmove(start, text.ljust(end - start, b"\0"), end - start)


class Words:
    """What follows `python`: options, then a script, -m or -c, then the program's own words."""

    def __init__(self, words):
        self.flags, self.warnings, self.code, self.module = "", [], None, None
        words = list(words)
        while words and words[0].startswith("-") and len(words[0]) > 1:
            word = words.pop(0)
            for place, letter in enumerate(word[1:], 1):
                if letter in "cm" or letter in OPTIONS_WITH_VALUE:
                    value = word[place + 1 :] or words.pop(0)
                    self.take_value(letter, value)
                    break
                self.flags += letter
            if self.code is not None or self.module is not None:
                break
        self.script = None
        if self.code is not None:
            words.insert(0, "-c")
        elif self.module is not None:
            words.insert(0, "-m")
        else:
            self.script = words[0]
        self.argv = words

    def take_value(self, letter, value):
        """One option that has a value."""
        if letter == "c":
            self.code = value
        elif letter == "m":
            self.module = value
        elif letter == "W":
            self.warnings.append(value)

    @property
    def isolated(self):
        """Whether the environment counts for nothing."""
        return "I" in self.flags or "E" in self.flags


def prepare_interpreter(words, path):
    """What happens before a program's first line: options, paths, sitecustomize."""
    sys.argv = words.argv
    sys.orig_argv = [sys.executable, *words.argv]
    given = [] if words.isolated else os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = [*(os.path.abspath(entry) for entry in given if entry), *path]
    if "B" in words.flags or (not words.isolated and os.environ.get("PYTHONDONTWRITEBYTECODE")):
        sys.dont_write_bytecode = True
    if "u" in words.flags or (not words.isolated and os.environ.get("PYTHONUNBUFFERED")):
        sys.stdout.reconfigure(write_through=True)
    options = [] if words.isolated else os.environ.get("PYTHONWARNINGS", "").split(",")
    sys.warnoptions[:] = [*filter(None, options), *words.warnings]
    warnings._processoptions(sys.warnoptions)
    random.seed()
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    importlib.invalidate_caches()
    sys.modules.pop("sitecustomize", None)
    if importlib.util.find_spec("sitecustomize"):
        importlib.import_module("sitecustomize")
    main = types.ModuleType("__main__")
    main.__builtins__ = sys.modules["builtins"]
    sys.modules["__main__"] = main
    if not {"I", "P"} & set(words.flags):
        folder = os.path.dirname(os.path.realpath(words.script)) if words.script else ""
        sys.path.insert(0, os.getcwd() if words.module else folder)
    return main


def load_program(words, main):
    """Give the code that is to be run, and None for a module: runpy runs that."""
    if words.code is not None:
        return compile(words.code, "<string>", "exec", dont_inherit=True)
    if words.module is not None:
        return None
    path = os.path.join(os.getcwd(), words.script)
    with io.open_code(path) as file:
        source = file.read()
    main.__file__ = path
    main.__cached__ = None
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    return compile(source, path, "exec", dont_inherit=True)


def end_interpreter(error):
    """What happens after a program's last line: its error, its threads, atexit, its output."""
    code = 0
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
        if code and not isinstance(error.code, int):
            print(error.code, file=sys.stderr)
    elif error is not None:
        code = 1
        show_error(error)
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    if isinstance(error, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code & 0xFF)


def show_error(error):
    """Print it without our own frames, as the interpreter does."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error = error.with_traceback(trace)
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
    sys.excepthook(type(error), error, trace)


plain_path = sys.path[1:]
for library in sys.argv[2:]:
    if importlib.util.find_spec(library.partition(".")[0]):
        importlib.import_module(library)
for one in list(weakref.finalize._registry):
    one.atexit = False  # torch would undo all that its import has registered, which takes long
gc.collect()
gc.freeze()
order, files = serve_programs(sys.argv[1])
if "torch" not in sys.modules:  # its objects are too many to be looked at again and again
    gc.unfreeze()
failed = None
folder, *files = files
os.fchdir(folder)
os.umask(order["umask"])
take_environment(order["environment"])
take_files(files, order["files"])
words = Words(order["words"])
try:
    main = prepare_interpreter(words, plain_path)
    code = load_program(words, main)
    if code is None:
        runpy._run_module_as_main(words.module)
    exec(code, main.__dict__)
except BaseException as error:  # whatever ends the program
    failed = error
end_interpreter(failed)
