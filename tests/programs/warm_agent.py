"""A stand-in for the warm agent: it speaks its protocol with real forks, and steps a story.

A story is a file with one statement a line. Before each line stands a snapshot, whose id is the
line's number from 0, valid as long as no line before it was changed.
"""

from __future__ import annotations

import array
import json
import os
import signal
import socket
import subprocess
import sys
import time

with open(os.environ["ZEROIN_AGENT"]) as order:
    FOLDER = json.load(order).get("warm", {}).get("folder", "")
STORY = sys.argv[1]
heap: list[bytearray] = []


class State:
    """What statements change."""

    ticks = 0
    clock = 0.0
    line: socket.socket | None = None  # of a resumed program


def tick(*_: object) -> None:
    State.ticks += 1


def read() -> list[str]:
    with open(STORY) as file:
        return file.read().splitlines()


def connect() -> socket.socket:
    line = socket.socket(socket.AF_UNIX)
    line.connect(os.path.join(FOLDER, "warm"))
    return line


def send(line: socket.socket, **message: object) -> None:
    data = json.dumps(message).encode()
    line.sendall(len(data).to_bytes(4, "big") + data)


def say(**message: object) -> None:
    with connect() as line:
        send(line, **message)


def receive(line: socket.socket) -> tuple[dict, list[int]]:
    """The next message with its descriptors; the process ends with the line."""
    data, descriptors = b"", []
    while len(data) < 4 or len(data) < 4 + int.from_bytes(data[:4], "big"):
        part, rights, _, _ = line.recvmsg(1 << 16, 1024)
        if not part:
            os._exit(0)
        data += part
        for _, _, packed in rights:
            descriptors += array.array("i", packed)
    return json.loads(data[4:]), descriptors


def freeze() -> None:
    """Let go of all that is the program's."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)


def snapshot(number: int, lines: list[str]) -> list[str]:
    """Ask, fork, go on. In a runner that may go on, the story as it is now."""
    line = connect()
    at = f"story:{number + 1}"
    send(
        line,
        kind="snapshot",
        id=number,
        pid=os.getpid(),
        at=at,
        seconds=State.clock,
        rss=0,
        fork=0.0,
    )
    answer, _ = receive(line)
    if answer["kind"] == "refused":
        os.write(2, f"refused: {answer['reason']}\n".encode())
        line.close()
        return lines
    if os.fork():
        line.close()
        return lines
    freeze()
    send(line, kind="frozen", id=number, pid=os.getpid())
    while receive(line)[0]["kind"] == "fork":
        if os.path.exists("stuck"):
            continue
        middle = os.fork()
        if middle:
            os.waitpid(middle, 0)
            continue
        middle = os.getpid()
        if os.fork():
            os._exit(0)
        while os.getppid() == middle:  # until it has ended, we are not the driver's
            time.sleep(0.001)
        line.close()
        return wait_to_go(number, at, lines)
    os._exit(0)


def wait_to_go(number: int, at: str, lines: list[str]) -> list[str]:
    line = connect()
    send(line, kind="runner", of=number, pid=os.getpid())
    order, ends = receive(line)
    if order["kind"] == "look":
        order, ends = receive(line)
    out, err = ends
    if os.path.exists("mute"):
        os._exit(0)
    new = read()
    same = 0
    while same < min(len(lines), len(new)) and lines[same] == new[same]:
        same += 1
    if "cold" in new or same < number:
        to = None if "cold" in new else same
        send(line, kind="back", to=to, reason=f"line {same + 1} was changed and had run")
        os._exit(0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.close(out)
    os.close(err)
    os.setpgid(0, os.getpgid(os.getppid()))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    send(line, kind="resumed", id=number, at=at, seconds=State.clock)
    State.line = line
    return new


def do(word: str, rest: str) -> None:
    if word in {"out", "err"}:
        os.write(1 if word == "out" else 2, rest.encode() + b"\n")
    elif word == "much":
        left = int(rest)
        while left:
            left -= os.write(1, b"x" * min(left, 1 << 16))
    elif word == "seconds":
        State.clock += float(rest)
    elif word == "memory":
        heap.append(bytearray())
        for _ in range(int(rest)):
            heap[-1] += os.urandom(1 << 20)
    elif word == "rewrite":
        for block in heap:
            block[:] = bytes(len(block))
    elif word == "whose":
        os.write(1, f"{os.getppid()} {os.getpgrp()}\n".encode())
    elif word == "wait":
        os.write(1, b"waiting\n")
        while True:
            signal.pause()
    elif word == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif word == "stubborn":
        signal.signal(signal.SIGTERM, lambda *_: os.write(1, b"asked\n"))
    elif word == "polite":
        signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b"bye\n"), os._exit(3)))
    elif word == "child":
        null = subprocess.DEVNULL
        child = subprocess.Popen(["sleep", "600"], stdin=null, stdout=null, stderr=null)
        os.write(1, f"child {child.pid}\n".encode())
    elif word == "clock":
        signal.signal(44, tick)
        until = time.monotonic() + 20
        while State.ticks < int(rest) and time.monotonic() < until:
            pass
        os.write(1, b"ticked\n" if State.ticks >= int(rest) else b"never ticked\n")
    elif word == "unhandled":  # without a handler the signal would end us
        signal.signal(44, signal.SIG_DFL)
        until = time.monotonic() + 0.3
        while time.monotonic() < until:
            pass
    elif word == "retreat":
        to, _, reason = rest.partition(" ")
        send(State.line, kind="retreat", to=None if to == "none" else int(to), reason=reason)
        signal.pause()
    elif word == "gate":
        say(kind="gate", at="story:1", reason=rest or None)
    elif word == "used":
        say(kind="used", files=rest.split())
    elif word == "fail":
        fail()
    elif word == "exit":
        os._exit(int(rest))


def fail() -> None:
    """Leave a holder behind, as at an uncaught exception."""
    if os.fork():
        os._exit(1)
    freeze()
    line = connect()
    send(line, kind="failed", pid=os.getpid())
    order, descriptors = receive(line)
    if order["kind"] == "debug":
        typed = os.read(descriptors[0], 100)
        os.write(descriptors[1], b"debugged " + typed)
    os._exit(0)


story = read()
position = 0
while position < len(story):
    if FOLDER:
        story = snapshot(position, story)
    word, _, rest = story[position].partition(" ")
    do(word, rest)
    position += 1
os._exit(0)
