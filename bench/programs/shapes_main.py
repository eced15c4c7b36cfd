"""Time the model, loops that are looked at, and code that is not; write it to RESULT."""

import json
import os
import time
from importlib import import_module

import shapes_model
import torch

ROUNDS = int(os.environ.get("ROUNDS", "8"))
PEER = os.environ.get("PEER", "")
LESS = 50 if PEER else 1  # theirs take so much longer


def other(value):
    twice = value * 2
    return twice + 1


def calls(count):
    total = 0
    for number in range(count):
        total += other(number)
    return total


def best(function, times):
    found = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(times):
            function()
        found.append((time.process_time() - start) / times)
    return min(found)


def decorate():
    """Let another tool trace what we look at, into nothing."""
    module = import_module(PEER.lower())
    if PEER == "snoop":
        wrap = module.Config(out=open(os.devnull, "w")).snoop  # noqa: SIM115 - until the end
    else:
        wrap = module.snoop(os.devnull)
    for kind in (shapes_model.Block, shapes_model.Net):
        kind.forward = wrap(kind.forward)
    shapes_model.loop = wrap(shapes_model.loop)


if PEER:
    decorate()
torch.set_num_threads(1)
net = shapes_model.Net().eval()
x = torch.randn(4, 16, 64)
result = {}
with torch.no_grad():
    net(x)
    result["forward"] = best(lambda: net(x), max(1, 100 // LESS))
result["loop"] = best(lambda: shapes_model.loop(1_000_000 // LESS // LESS), 1) * LESS * LESS
if not PEER:
    result["arrays"] = best(lambda: shapes_model.arrays(100_000), 1)
    result["other"] = best(lambda: calls(1_000_000), 1)
with open(os.environ["RESULT"], "w") as file:
    json.dump(result, file)
