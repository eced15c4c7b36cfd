"""Holds memory of a CUDA device until stdin closes. Run as a script of its own, with no imports of
ours: `gpu_holder.py DEVICE FREE` where FREE is a number of bytes, or a share of the whole such as
0.1; with FREE `probe` it only says what there is. It prints one line of JSON.

The driver frees what a process holds when it ends, however it ends.
"""  # noqa: D205 - one thought

from __future__ import annotations

import ctypes
import json
import sys

CHUNK = 256 << 20  # bytes at a time, halved where that fails,
SMALLEST = 1 << 20  # down to this
OUT_OF_MEMORY = 2  # CUDA's own number for it


class CudaError(Exception):
    """A call of the driver's failed."""


def main(device: int, free: str) -> dict[str, object]:
    """Take until only that much is left."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return {"error": "no CUDA driver (libcuda.so.1 does not load)"}
    try:
        _enter(cuda, device)
        now, whole = _memory(cuda)
        if free == "probe":
            return {"free": now, "total": whole}
        wanted = int(float(free) * whole) if "." in free else int(free)
        if now < wanted:
            return {"short": now, "total": whole}
        _take(cuda, wanted)
        left, whole = _memory(cuda)
    except CudaError as error:
        return {"error": str(error)}
    return {"free": left, "total": whole, "held": now - left}


def _enter(cuda: ctypes.CDLL, device: int) -> None:
    handle, context = ctypes.c_int(), ctypes.c_void_p()
    _call(cuda, "cuInit", 0)
    count = ctypes.c_int()
    _call(cuda, "cuDeviceGetCount", ctypes.byref(count))
    if device >= count.value:
        raise CudaError(f"there is no device {device}, only {count.value}")
    _call(cuda, "cuDeviceGet", ctypes.byref(handle), device)
    _call(cuda, "cuDevicePrimaryCtxRetain", ctypes.byref(context), handle)
    _call(cuda, "cuCtxSetCurrent", context)


def _memory(cuda: ctypes.CDLL) -> tuple[int, int]:
    free, whole = ctypes.c_size_t(), ctypes.c_size_t()
    _call(cuda, "cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(whole))
    return free.value, whole.value


def _take(cuda: ctypes.CDLL, wanted: int) -> None:
    chunk = CHUNK
    while True:
        spare = _memory(cuda)[0] - wanted
        chunk = min(chunk, spare)
        if chunk < SMALLEST:
            return
        pointer = ctypes.c_uint64()
        failed = cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(chunk))
        if failed == OUT_OF_MEMORY:
            chunk //= 2  # what is free lies in pieces
        elif failed:
            raise CudaError(f"cuMemAlloc fails with {failed}")


def _call(cuda: ctypes.CDLL, name: str, *args: object) -> None:
    failed = getattr(cuda, name)(*args)
    if failed:
        raise CudaError(f"{name} fails with {failed}")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(int(sys.argv[1]), sys.argv[2])) + "\n")
    sys.stdout.flush()
    if sys.argv[2] != "probe":
        sys.stdin.read()
