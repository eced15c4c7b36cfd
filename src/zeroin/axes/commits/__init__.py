"""Commits: which there are between two, and a folder of our own that can be at any of them.

`git` runs git, `history` puts commits in a line, `worktree` is the folder. The user's checkout,
index, stash, refs and list of worktrees are never written to: all that is new lies in a repository
of our own, which borrows the user's objects.
"""
