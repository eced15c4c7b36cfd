"""Little free memory on a GPU: our counting and tidying up, against a stand-in for the CUDA driver.

What CUDA itself does is not tested here.
"""

import os
import signal
import subprocess

import pytest
from test_limit_disk import are_gone, guards, is_there

import support

PROGRAM = """\
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
free, whole, pointer = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_uint64()
cuda.cuInit(0)
cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(whole))
print(free.value, flush=True)
def forward(size):
    if cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(size)):
        raise RuntimeError("CUDA out of memory")
forward(int(sys.argv[1]))
if len(sys.argv) > 2:
    print("ready", flush=True)
    sys.stdin.read()
    import time
    time.sleep(1000)
"""


@pytest.fixture
def device(someone, place):
    """Someone with a device of 8 GB."""
    if reason := support.lack("gcc"):
        pytest.skip(reason)
    folder, state = place / "cuda", place / "state"
    folder.mkdir()
    state.mkdir(mode=0o777)
    state.chmod(0o777)
    source = support.ROOT / "tests" / "programs" / "stub_cuda.c"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", folder / "libcuda.so.1", source], check=True)
    someone.env["LD_LIBRARY_PATH"] = str(folder)
    someone.env["STUB_CUDA"] = str(state)
    someone.state = state
    someone.write("forward.py", PROGRAM)
    return someone


def test_only_so_much_is_free(device):
    """What fits passes, what does not is refused by the driver; afterwards all is free."""
    for size, outcome in (("500000000", "passed"), ("1500000000", "limit")):
        done = device.json("run", "--limit", "gpu-free=1G", "--", "python", "forward.py", size)
        assert done["outcome"] == outcome
        (limit,) = done["limits"]
        assert limit["backend"] == "memory held through the CUDA driver"
        assert limit["detail"] == "1.0 GB of 8.0 GB left free at the start"
    assert done["signature"] == "RuntimeError at forward(): CUDA out of memory"
    assert are_free(device)


def test_a_share_and_a_device(device):
    """Of the whole memory of that device, to within a megabyte."""
    done = device("limit", "gpu-free=25%@0", "--", "python", "forward.py", "1")
    assert abs(int(done.stdout) - 2_000_000_000) < 1 << 20
    assert are_free(device)


@pytest.mark.parametrize(
    ("limit", "code", "words"),
    [
        ("gpu-free=9G", 2, "only 8.0 GB of 8.0 GB are free there now"),
        ("gpu-free=1G@3", 125, "there is no device 3, only 1"),
        ("gpu-free=1G@x", 2, "'x' is no device"),
    ],
)
def test_what_can_not_be(device, limit, code, words):
    """In words."""
    done = device("limit", limit, "--", "touch", "started")
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr
    assert not (device.project / "started").exists()


def test_without_a_driver(me):
    """It says so, with exit code 125."""
    me.env["LD_LIBRARY_PATH"] = ""
    done = me("limit", "gpu-free=1G", "--", "true")
    if "are free there now" in done.stderr or done.returncode == 0:
        pytest.skip("there is a real CUDA driver here")
    assert (done.returncode, "libcuda.so.1 does not load" in done.stderr) == (125, True)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_it_is_free_again_whatever_ends_the_driver(device, number):
    """The holder ends with it."""
    process = device.start("limit", "gpu-free=1G", "--", "python", "forward.py", "1", "wait")
    with process:
        assert process.stdout.readline().strip() == "1000000000"
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        process.communicate(timeout=20)
    are_gone(guards(device))
    assert are_free(device)


def are_free(device):
    """No living process holds any of it."""
    return not any(is_there(int(name)) for name in os.listdir(device.state))
