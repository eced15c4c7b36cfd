"""The option `--at`, of the verbs that run a command plainly."""

from __future__ import annotations

import sys

from zeroin.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from zeroin.fronts.cli.options import Takes

EXAMPLE = "zeroin run --at train.py:41 peek=x -- python train.py"


def add_option(p: Takes) -> None:
    """What to do in the middle of it."""
    p.add_argument(
        "--at",
        dest="probes",
        action="append",
        nargs="+",
        default=[],
        metavar="WORD",
        help="PLACE ACTION ...: do something there, without an edit. PLACE: FILE:LINE, FILE:FUNC, "
        "MODULE:FUNC or MODULE:CLASS.METHOD (then :return for its end). ACTION: peek=EXPR,EXPR "
        "sleep=20 die pdb stack mem snapshot, with if=EXPR times=N every=N",
    )


def probes_of(given: argparse.Namespace, cwd: str) -> tuple[str, ...]:
    """As they were given; those that can't be meant are refused before anything is done."""
    asked = getattr(given, "probes", None)
    if not asked:
        return ()
    from zeroin.tools import probes

    texts = tuple(probes.text_of(words, cwd) for words in asked)
    if given.no_agent:
        raise UsageError("--at is done by the agent, which --no-agent keeps out")
    if not sys.stdin.isatty() and any(probes.parse(text, cwd).get("pdb") for text in texts):
        raise UsageError("--at ... pdb needs a terminal to type in", hint="or: peek=EXPR, snapshot")
    return texts
