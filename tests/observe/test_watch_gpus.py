"""GPUs, by stand-ins for the vendors' commands: no device is needed, and none is tested."""

from __future__ import annotations

import sys

import pytest

from zeroin.observe.watch import gpus

NVIDIA = """\
import sys
if sys.argv[1].startswith("--query-gpu="):
    print("0, GPU-aaaa, Imaginary 9000, 12345, 24576, 87, 61, 250.50")
    print("1, GPU-bbbb, Imaginary 9000, [N/A], 24576, [N/A], 35, [Not Supported]")
else:
    print("GPU-aaaa, 41, 12000")
    print("GPU-aaaa, 42, [N/A]")
    print("GPU-bbbb, 41, 100")
"""
ROCM = """\
import json
print("WARNING: AMD GPU device(s) is/are in a low-power state.")
print(json.dumps({
    "card0": {
        "Card series": "Instinct",
        "VRAM Total Memory (B)": "68702699520",
        "VRAM Total Used Memory (B)": "10960896",
        "GPU use (%)": "12",
        "Temperature (Sensor edge) (C)": "41.0",
        "Average Graphics Package Power (W)": "93.0",
    },
    "system": {"PID7": "python3, 1, 8388608, 0, unknown"},
}))
"""


@pytest.fixture
def asked(tmp_path):
    """Ask a stand-in once: what the asker says afterwards."""
    askers = []

    def ask(name, text):
        tool = tmp_path / name
        tool.write_text(f"#!{sys.executable}\n{text}")
        tool.chmod(0o755)
        asker = gpus.Asker(str(tool))
        askers.append(asker)
        asker.start()
        assert asker.first.wait(30)
        return asker

    yield ask
    for asker in askers:
        asker.stop()
        asker.join(10)
        assert not asker.is_alive()


def test_nvidia(asked):
    """Devices with what they tell; memory of a process over all devices."""
    answer = asked("nvidia-smi", NVIDIA).answer
    first, second = answer.gpus
    assert first == (0, "Imaginary 9000", 12345 << 20, 24576 << 20, 87.0, 61.0, 250.5)
    assert second == (1, "Imaginary 9000", None, 24576 << 20, None, 35.0, None)
    assert answer.held == {(0, 41): 12000 << 20, (0, 42): 0, (1, 41): 100 << 20}
    assert answer.by_process() == {41: 12100 << 20, 42: 0}


def test_rocm(asked):
    """With a warning before the object; it does not say which device a process is on."""
    answer = asked("rocm-smi", ROCM).answer
    assert answer.gpus == [(0, "Instinct", 10960896, 68702699520, 12.0, 41.0, 93.0)]
    assert answer.by_process() == {7: 8388608}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import sys; print('it could not communicate with the driver'); sys.exit(9)", "driver"),
        ("print('no table')", ""),
        ("import os; os.abort()", "exit code -6"),
    ],
)
def test_a_command_that_fails(asked, text, says):
    """Its last line is told; asking goes on."""
    asker = asked("nvidia-smi", text)
    assert says in asker.error
    assert bool(asker.error) == (asker.answer is None)


def test_one_that_hangs_is_ended_with_us(tmp_path):
    """Nothing waits for it."""
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\nexec sleep 1000\n")
    tool.chmod(0o755)
    asker = gpus.Asker(str(tool))
    asker.start()
    while asker._process is None:
        asker.first.wait(0.01)
    asker.stop()
    asker.join(10)
    assert not asker.is_alive()
