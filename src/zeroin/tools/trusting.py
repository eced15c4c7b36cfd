"""`trust`: the user's consent to what a project's files ask for, and to its record."""

from __future__ import annotations

import os

from zeroin.errors import UsageError, ZeroinError
from zeroin.named import NamedTuple
from zeroin.record import place, trust
from zeroin.tools.config import read_project_settings
from zeroin.tools.consent import AskedSetting, list_asked, name_asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class TrustReport(NamedTuple):
    """What was agreed to, and where the record of the project lies now."""

    root: str
    settings: list[AskedSetting]
    exposed: str  # why others can change the record that is used all the same; "" if they can't
    adopted: bool  # the record was not made here, and is used from now on
    folder: str
    refused: str  # why the project's own record is not used; "" if it is
    hint: str


def agree(cwd: str, environ: Mapping[str, str], warn: Callable[[str], object]) -> TrustReport:
    """Agree to the settings of a project as they are, and to its record where that is possible."""
    root, folder, state = _find_project(cwd, environ)
    asked = list_asked(read_project_settings(root, warn))
    fault = trust.find_fault(folder, state)
    exposed = _find_exposure(folder, fault)
    agreed = trust.read_agreement(os.path.dirname(folder), state)
    agreed = trust.Agreement(agreed.exposed or bool(exposed), name_asked(asked))
    try:
        trust.write_agreement(os.path.dirname(folder), state, agreed)
        if exposed:
            fault = trust.find_fault(folder, state)
        is_adopted = fault is not None and fault.can_be_agreed
        if is_adopted:
            place.prepare(folder)
            trust.register_store(folder, state)
            fault = trust.find_fault(folder, state)
    except OSError as error:
        raise ZeroinError(
            f"your consent can't be kept: {error}", hint="set XDG_STATE_HOME to a folder of yours"
        ) from None
    found = place.find(cwd, environ)
    refused, hint = (fault.why, fault.hint) if fault else ("", "")
    return TrustReport(root, asked, exposed, is_adopted, found.folder, refused, hint)


def _find_exposure(folder: str, fault: trust.Fault | None) -> str:
    if fault is None or not fault.can_be_agreed:
        return ""
    from zeroin.record.ownership import find_exposure

    return find_exposure(folder if os.path.isdir(folder) else os.path.dirname(folder))


def forget(cwd: str, environ: Mapping[str, str]) -> tuple[str, bool]:
    """Take the consent back; the project, and whether there was any."""
    root, folder, state = _find_project(cwd, environ)
    return root, trust.forget_agreement(os.path.dirname(folder), folder, state)


def _find_project(cwd: str, environ: Mapping[str, str]) -> tuple[str, str, str]:
    root = place.find_root(cwd, environ.get("HOME", ""))
    if root is None:
        raise UsageError(
            "this folder is in no project, so there is nothing to agree to", hint="cd to a project"
        )
    return root, os.path.join(os.path.realpath(root), place.FOLDER), place.own_state(environ)
