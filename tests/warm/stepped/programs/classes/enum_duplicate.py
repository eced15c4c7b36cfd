# ends: TypeError
import enum


class Bad(enum.Enum):
    A = 1
    A = 2
