"""The shadow: snapshots of the user's code that leave the user's repository alone.

The *shadow* is a git repository of ours, `<store>/code.git`, whose work tree is the user's
project. A *snapshot* is a tree in it: the project's files as they lie on disk, byte for byte,
untracked ones included, ignored ones not. Contents that the user's own repository has already
are *borrowed*: read from there, never written, and so lost if that repository prunes them.
What no snapshot can hold (too large, unreadable, a repository of its own) is *left out*, and
every snapshot says so.

Git does the work, Python decides what goes in. Each snapshot works on a private copy of our
index and renames it into place, so two at once, or one killed half-way, harm nothing.

`shadow` is where to begin reading. `taking` makes one snapshot: it asks `rules` what is
ignored and `admission` what fits. `repository` finds the user's own git, `changes` tells two
snapshots apart, `git` and `files` do the work.
"""

from zeroin.record.code.changes import Change
from zeroin.record.code.git import CodeError, GitMissingError, TookTooLongError
from zeroin.record.code.shadow import Shadow
from zeroin.record.code.taking import Snapshot

__all__ = ["Change", "CodeError", "GitMissingError", "Shadow", "Snapshot", "TookTooLongError"]
