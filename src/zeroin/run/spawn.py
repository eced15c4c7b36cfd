"""Starting the command itself."""

from __future__ import annotations

import errno
import os
import signal

from zeroin.errors import NOT_EXECUTABLE, CommandNotFoundError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, NoReturn

_CANT_EXEC = "exec"  # the word before its errno
CLEAN = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def spawn(
    command: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    out: int,
    err: int,
    *,
    apart: bool = False,
) -> int:
    """Start it with clean signals, our stdin, and the given ends of the wires.

    `apart`: in a process group of its own, out of the terminal's reach.
    """
    program = find(command[0], cwd, env)
    actions = [(os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, err, 2)]
    here = os.open(".", os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.chdir(cwd)
        return _start(program, list(command), env, actions, apart=apart)
    finally:
        os.fchdir(here)
        os.close(here)


def _start(
    program: str,
    command: list[str],
    env: Mapping[str, str],
    actions: list[tuple[int, int, int]],
    *,
    apart: bool,
) -> int:
    group: dict[str, Any] = {"setpgroup": 0} if apart else {}
    try:
        return os.posix_spawn(
            program,
            command,
            env,
            file_actions=actions,
            setsigmask=[],
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT],
            **group,
        )
    except OSError as error:
        if error.errno == errno.ENOEXEC:  # a script without #!: what every shell does
            return _start("/bin/sh", ["sh", program, *command[1:]], env, actions, apart=apart)
        raise cant_start(command[0], program, error) from None


def become(
    program: str,
    command: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    out: int,
    err: int,
    enter: Callable[[], None],
    meanwhile: Callable[[int], None] = lambda _: None,
) -> tuple[int, str]:
    """Fork, enter something, and become the command there; its pid, and what went wrong.

    What is to be done `meanwhile` is done by us, with its pid, and before the command begins: it
    may kill us at once. If it fails, or we are killed before, there is no command.
    """
    from zeroin.emulate import kernel  # ctypes takes milliseconds to load

    reader, writer = os.pipe()
    waiting, going = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(going)

        def do() -> None:
            enter()
            if os.read(waiting, 1):
                _exec(program, command, cwd, env, out, err)

        kernel.tell_and_end(writer, do)
    os.close(writer)
    os.close(waiting)
    try:
        meanwhile(pid)
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(reader)
        os.close(going)
        raise
    try:
        os.write(going, b".")
    except BrokenPipeError:  # it could not enter, and tells why
        pass
    os.close(going)
    with open(reader, "rb") as file:
        told = file.read().decode(errors="replace")
    if told:
        os.waitpid(pid, 0)
    name, _, number = told.partition(" ")
    if name == _CANT_EXEC:
        raise cant_start(command[0], program, OSError(int(number), ""))
    return pid, told


def become_command(command: Sequence[str], cwd: str, env: Mapping[str, str]) -> NoReturn:
    """Be the command from here on, with our own standard streams."""
    program = find(command[0], cwd, env)
    try:
        _exec(program, command, cwd, env, 1, 2)
    except RuntimeError as error:
        raise cant_start(command[0], program, OSError(int(str(error).split()[1]), "")) from None
    raise AssertionError("it has become the command")


def _exec(
    program: str, command: Sequence[str], cwd: str, env: Mapping[str, str], out: int, err: int
) -> None:
    os.chdir(cwd)
    os.dup2(out, 1)
    os.dup2(err, 2)
    for number in CLEAN:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    try:
        os.execve(program, list(command), env)  # noqa: S606 - what this is for
    except OSError as error:
        if error.errno != errno.ENOEXEC:  # a script without #!, what every shell runs
            raise RuntimeError(f"{_CANT_EXEC} {error.errno}") from None
        os.execve("/bin/sh", ["sh", program, *command[1:]], env)  # noqa: S606


def find(name: str, cwd: str, env: Mapping[str, str]) -> str:
    """Where the shell would find the command, given the command's own environment."""
    if "/" in name:
        path = os.path.join(cwd, name)
        if not os.path.exists(path):
            raise CommandNotFoundError(
                f"{name}: no such file", hint=f"the command runs in {cwd}; see --cwd"
            )
        return path
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(cwd, folder, name)
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    raise CommandNotFoundError(f"{name}: command not found", hint=_hint(name))


def _hint(name: str) -> str:
    if name == "python":
        return "try python3, or activate the project's environment first"
    if name.endswith(".py"):
        return f"a script needs its interpreter: zeroin run -- python {name}"
    return "is its environment active? PATH is passed on as it is"


def cant_start(name: str, program: str, error: OSError) -> CommandNotFoundError:
    """What to say of it."""
    program = os.path.normpath(program)
    found = CommandNotFoundError(f"{name}: {os.strerror(error.errno or 0).lower()}")
    if error.errno in (errno.EACCES, errno.EPERM):
        found.exit_code = NOT_EXECUTABLE
        found.hint = f"make it executable: chmod +x {program}"
    elif error.errno == errno.E2BIG:
        found.hint = "arguments and environment together are too large for the kernel"
    elif error.errno == errno.ENOENT:
        found.hint = f"{program} is there, but the interpreter in its first line is not"
    return found
