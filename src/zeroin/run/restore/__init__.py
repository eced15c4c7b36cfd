"""`--restore PATH`: put a file or folder back to its state at the first attempt of the cycle.

A *baseline* is that state, kept in a folder of the store: a manifest of every entry and a copy of
every file. That PATH was absent is a state too. *Putting back* looks at each entry and touches
only what differs, so an unchanged folder costs a walk. Nothing outside PATH is ever touched:
symbolic links are never followed, folders are held by descriptor while they are worked on, and
files are made anew rather than written through, since a name may have become a link to elsewhere.

The baseline holds copies (reflinks where the file system has them), never hard links to the live
files: a program that writes in place would change the saved state as well.

Kept: content (holes stay holes), mode, modification time, links, extended attributes as far as the
file system allows, owners when we are root, hard links between files inside PATH (one to a file
outside is cut when its content has to be put back). Sockets, FIFOs and devices that were there
are left alone and named; new ones go. Nobody else may write to PATH meanwhile.
"""

from zeroin.run.restore.checks import check
from zeroin.run.restore.errors import RestoreError, RestoreRefused
from zeroin.run.restore.putting import Restored, put_back
from zeroin.run.restore.saving import save

__all__ = ["RestoreError", "RestoreRefused", "Restored", "check", "put_back", "save"]
