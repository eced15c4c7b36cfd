"""A program that writes whatever it likes to the socket of its agent, and puts pipes in its folder.

`rubbish.py SEED COUNT`: random bytes, lengths that lie, and messages of every kind in which values
have been replaced by others. Ends with exit code 7.
"""

import copy
import json
import os
import random
import socket
import subprocess
import sys

FOLDER = os.path.dirname(os.environ["ZEROIN_AGENT"])
CHOSEN = random.Random(int(sys.argv[1]))
FRAME = {
    "file": __file__,
    "line": 3,
    "name": "f",
    "qualname": "f",
    "class": "",
    "module": "__main__",
    "owner": "user",
    "span": [3, 3, 0, 4],
    "source": {"first": 1, "lines": ["a", "b", "c", "d"]},
    "locals": {"x": "1"},
}
LINK = {
    "type": "KeyError",
    "module": "builtins",
    "message": "'x'",
    "frames": [FRAME, FRAME],
    "leads_by": "",
    "notes": ["n"],
    "worker": {"name": "w", "item": "i", "pid": 4, "chain": []},
    "group": [[{"type": "E", "message": "m", "frames": [FRAME]}]],
    "syntax": {"message": "m", "file": "f.py", "line": 1, "text": "t"},
}
FACTS = {
    "python": {"version": "3", "executable": "/p", "implementation": "c", "prefix": "/"},
    "path": ["/a"],
    "modules": {"m": "/m.py"},
    "installed": {"i": "/i.py"},
    "where": {"w": "/w.py"},
    "which": {"reached": 1, "lines": [["f", 1, 1]], "refused": "", "before": False, "loaded": []},
}
CRASH = {"time": 1.0, "thread": "main", "fatal": True, "test": "", "chain": [LINK, LINK], **FACTS}
KINDS = {
    "start": FACTS,
    "exit": FACTS,
    "crash": CRASH,
    "snapshot": {"time": 1.0, "probe": 0, "number": 1, "place": "p", "frames": [FRAME]},
    "probe": {"id": 0, "event": "placed", "file": "f", "line": 1, "function": "g", "near": []},
    "test": {
        "crash": {**CRASH, "pid": 1, "test": "t::a"},
        "command": ["true"],
        "cwd": "/",
        "seconds": 1.0,
        "peak_bytes": 5,
    },
    "full": {"folder": "/x", "where": ["f", 1]},
    "reached": {"file": "f", "line": 1, "stack": [{"file": "f", "line": 1, "name": "n"}]},
    "leak_progress": {"done": 1, "of": 2},
    "leak": {"times": 1, "traced": 1, "left": 1, "cycles": [], "gc": True, "sites": []},
    "nan": {"what": "NaN", "how": "loss", "first": {}, "affected": []},
    "nan-numpy": {"frames": []},
    "nan-end": {"library": "numpy"},
    "another": {},
}
EVENTS = ("reached", "placed", "raised", "other", "refused", "no-code", "no-function", "no-file")
ODD = [
    None,
    True,
    -1,
    0,
    1 << 70,
    1e300,
    "",
    "x",
    "\x1b[31m\ud800",
    [],
    {},
    [[]],
    {"a": None},
    ["x"],
]


def send(data):
    """Over a connection of its own, as agents do."""
    line = socket.socket(socket.AF_UNIX)
    try:
        line.settimeout(5)
        line.connect(FOLDER + "/agent")
        line.sendall(data)
    except OSError:
        pass
    line.close()


def put_odd(value, depth):
    """Replace something in a message, anywhere, or take it away."""
    if isinstance(value, (dict, list)) and value and CHOSEN.random() < 0.85 and depth:
        key = CHOSEN.choice(list(value) if isinstance(value, dict) else range(len(value)))
        if CHOSEN.random() < 0.15:
            del value[key]
        else:
            value[key] = put_odd(value[key], depth - 1)
        return value
    return copy.deepcopy(CHOSEN.choice(ODD))


for number in range(int(sys.argv[2])):
    kind = CHOSEN.choice(list(KINDS))
    message = {"kind": kind, "pid": os.getpid(), **copy.deepcopy(KINDS[kind])}
    if kind == "probe":
        message["event"] = CHOSEN.choice(EVENTS)
    for _ in range(CHOSEN.randrange(3)):
        put_odd(message, 6)
    body = json.dumps(message).encode()
    size = len(body) if CHOSEN.random() < 0.95 else CHOSEN.choice([0, 1, len(body) + 1, 0xFFFFFFFF])
    send(size.to_bytes(4, "big") + body)
    if number % 5 == 0:
        send(CHOSEN.randbytes(CHOSEN.randrange(200)))
for body in (b"[" * 200_000, b"1" * 20_000, b'"' + b"x" * 3_000_000 + b'"', b"null", b"\xff"):
    send(len(body).to_bytes(4, "big") + body)
for name in ("order", "peeks", "faults", "leak-1", "lines-1-1", "shapes", "tally-1", "probes-1"):
    path = os.path.join(FOLDER, name)
    if os.path.exists(path):
        os.unlink(path)
    os.mkfifo(path)
subprocess.run([sys.executable, "-c", "pass"], check=True)  # its agent meets the pipes
held = []
for _ in range(300):
    line = socket.socket(socket.AF_UNIX)
    line.settimeout(0.2)
    try:
        line.connect(FOLDER + "/agent")
    except OSError:
        break
    held.append(line)
print("sent")
sys.exit(7)
