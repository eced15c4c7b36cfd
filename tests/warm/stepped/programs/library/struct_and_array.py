import array
import struct

data = struct.pack("<IhB", 1, -2, 3)
print(data, struct.unpack("<IhB", data), array.array("d", [1.5, 2]).tolist())
try:
    struct.pack("B", 300)
except struct.error as error:
    print(error)
