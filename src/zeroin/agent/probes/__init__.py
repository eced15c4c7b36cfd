"""Probes: something is done at a line or a function of any file, and no file is edited.

The driver lists them in the order (`asked`), which every Python of
the run reads:

    [{"id": 0, "file": "/home/me/train.py", "line": 41, "peek": ["x.shape"], "if": "step > 100"},
     {"id": 1, "module": "torch.nn.functional", "function": "relu", "die": true}]

*Where*: `file` (a real path; or, with `"part": true`, the last folders and the name) or `module`;
and `line`, or `function` (`f`, `Class.method`, `outer.inner`), with `"return": true` for its end.
*What*: `peek` (expressions), `mem`, `stack`, `snapshot`, `sleep` (seconds), `pdb`, `die` (the
process ends there with exit code 70). *When*: `if` (an expression), `every`, `times`.

What becomes of them is told to the driver in messages of the kind "probe": `{"id": 0, "event":
...}` with `pid`, and for the events
- `placed`: it stands in `file` at `line` of `function`; `defines`, if that line only defines it;
- `reached`: for the first time in that process, at `file`, `line` of `function`;
- `no-code`, `no-function`: the file was loaded, and has no such place; `near` is what it has;
- `other`: another `file` of that name was loaded;
- `no-file`: the program came from standard input, where none can stand;
- `refused`: a `reason` why it can't stand there, as "it is written in C";
- `raised`: the expression `text` raised `error`, told once;
- `died`: it ended the process. The stack comes as a crash of the type `die`.

How often each was reached is counted in memory that the driver reads, see `tally`. To know
whether a method is really used, without anything printed: `[{"id": 0, "module": "pkg.mod",
"function": "Class.method", "die": true, "quiet": true}]`, and look for the event `reached`.

`asked` reads them, `loading` meets the files, `places` finds where in a tree a probe stands,
`insert` puts the call there, `hit` is what it calls, and `actions` what that does.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def install(wanted: list[Any], folder: str) -> None:
    """Called once by the agent's hooks, before the user's code."""
    from . import loading

    loading.begin(wanted, folder)
