"""Stand where modules are imported: from source, from a `.pyc` of it, from a zip file.

The plain code is always made first, with all that the import system says, reads and writes on
the way: a `.pyc` that is written is that of the plain code.
"""

from __future__ import annotations

import _frozen_importlib_external as external
import sys

from . import making

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def install() -> None:
    """Called once."""
    _watch_sources()
    _watch_zips()


def _watch_sources() -> None:
    loader: Any = external.SourceLoader  # all others that compile a source are made of this one
    plain = loader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        code = plain(self, fullname)
        try:
            filename = self.get_filename(fullname)
        except Exception:  # a loader with rules of its own
            return code
        # Importers that change the code themselves take a tree as well as a text.
        new = making.made(
            filename,
            lambda: making.read_as_run(filename, lambda: self.get_data(filename)),
            lambda tree: self.source_to_code(tree, filename),
        )
        return new or code

    # The interpreter leaves out frames of the import system from tracebacks by their file.
    get_code.__code__ = get_code.__code__.replace(co_filename=plain.__code__.co_filename)
    get_code.__qualname__, get_code.__module__ = plain.__qualname__, plain.__module__
    loader.get_code = get_code


def _watch_zips() -> None:
    zipimport: Any = sys.modules.get("zipimport")  # it is there unless it was taken out
    if zipimport is None or not hasattr(zipimport, "_get_module_code"):
        return
    plain = zipimport._get_module_code

    def get_module_code(self: Any, fullname: str) -> Any:
        code, is_package, path = plain(self, fullname)
        source = path[:-1] if path.endswith(".pyc") else path
        new = making.made(source, lambda: self.get_data(source), making.build(path))
        return new or code, is_package, path

    zipimport._get_module_code = get_module_code
