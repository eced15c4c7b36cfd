b = bytearray(b"hello")
m = memoryview(b)
m[0] = ord("j")
print(b, m[1:3].tobytes(), m.readonly, bytes(m[::-1]), m.cast("B").tolist()[:2])
try:
    b.append(1)
except BufferError as error:
    print(error)
m.release()
b.append(33)
print(b)
