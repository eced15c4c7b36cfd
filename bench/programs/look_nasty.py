"""Show one nasty object with one tool: `look_nasty.py peek list`.

Prints `ready` once the object is made, then one JSON object: what the look took, in seconds and
in bytes of memory. What the tool prints goes to stderr.
"""

import json
import os
import sys
import time

TOOL, KIND, SIZE = sys.argv[1], sys.argv[2], int(sys.argv[3])


class Raises:
    def __repr__(self):
        raise ValueError("no repr")


class Interrupts:
    def __repr__(self):
        raise KeyboardInterrupt


class Slow:
    def __repr__(self):
        time.sleep(8)
        return "late"


class Huge:
    def __repr__(self):
        return "x" * 100_000_000


def tensor(with_nan):
    import torch  # noqa: PLC0415 - only where it is wanted

    if with_nan:
        made = torch.arange(320.0).reshape(32, 10)
        made[0, :3] = float("nan")
        return made
    return torch.ones(SIZE // 4)


def itself():
    made = [1]
    made.append(made)
    return made


KINDS = {
    "list": lambda: list(range(10_000_000)),
    "dict": lambda: dict.fromkeys(range(1_000_000), "value"),
    "raises": Raises,
    "interrupts": Interrupts,
    "slow": Slow,
    "huge": Huge,
    "tensor": lambda: tensor(with_nan=False),
    "nan": lambda: tensor(with_nan=True),
    "itself": itself,
}


def memory(key=b"VmHWM:"):
    with open("/proc/self/status", "rb") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))


def load(name):
    """Give a function that shows a value with a tool."""
    if name == "peek":
        from zeroin import peek as show  # noqa: PLC0415
    elif name == "print":
        show = lambda value: print("value =", value, file=sys.stderr)  # noqa: E731
    elif name == "icecream":
        from icecream import ic as show  # noqa: PLC0415
    elif name == "snoop":
        import snoop  # noqa: PLC0415

        show = snoop.pp
    elif name == "rich":
        from rich.console import Console  # noqa: PLC0415
        from rich.pretty import pprint  # noqa: PLC0415

        console = Console(stderr=True)
        show = lambda value: pprint(value, console=console)  # noqa: E731
    elif name == "TorchSnooper":
        import torchsnooper  # noqa: PLC0415

        @torchsnooper.snoop()
        def show(value):
            return value
    elif name == "lovely-tensors":
        import lovely_tensors  # noqa: PLC0415

        show = lambda value: print(lovely_tensors.lovely(value), file=sys.stderr)  # noqa: E731
    else:
        import stackprinter  # noqa: PLC0415

        def show(value):  # noqa: ARG001 - it is in the frame
            try:
                raise RuntimeError("on purpose")  # noqa: TRY301
            except RuntimeError:
                stackprinter.show()

    return show


show, value = load(TOOL), KINDS[KIND]()
with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
    file.write("5")
before = memory(b"VmRSS:")
os.write(1, b"ready\n")
started = time.perf_counter()
show(value)
sys.stderr.flush()
took = time.perf_counter() - started
os.write(1, json.dumps({"seconds": took, "grown": max(0, memory() - before)}).encode() + b"\n")
os._exit(0)
