import ctypes

CMP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
libc = ctypes.CDLL(None)


def compare(a, b):
    x, y = a[0], b[0]
    return (x > y) - (x < y)


xs = (ctypes.c_int * 4)(3, 1, 4, 2)
libc.qsort(xs, 4, ctypes.sizeof(ctypes.c_int), CMP(compare))
print(list(xs))
