"""A descriptor that the command's process opens in its namespaces, and the driver looks through."""

from __future__ import annotations

import _socket  # `socket` itself takes longer to load than all that we do with it
import os
import sys

SIZE = 4  # bytes of a descriptor, as it is passed on


class Handle:
    """Made before the command's process is there. Close it in any case."""

    def __init__(self) -> None:
        self._ours, self._theirs = _socket.socketpair()
        self.fd = -1

    def pass_on(self, fd: int) -> None:
        """In the command's process."""
        number = fd.to_bytes(SIZE, sys.byteorder)
        self._theirs.sendmsg([b"."], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, number)])

    def take(self) -> bool:
        """In the driver, once the process has ended: whether there is one."""
        self._theirs.close()
        _, passed, _, _ = self._ours.recvmsg(1, _socket.CMSG_SPACE(SIZE))
        if passed:
            self.fd = int.from_bytes(passed[0][2][:SIZE], sys.byteorder)
            os.set_inheritable(self.fd, False)
        return bool(passed)

    def used(self) -> int:
        """Bytes of the file system that it leads to."""
        now = os.fstatvfs(self.fd)
        return (now.f_blocks - now.f_bfree) * now.f_frsize

    def close(self) -> None:
        """Without a descriptor of ours what it leads to can go."""
        self._ours.close()
        self._theirs.close()
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
