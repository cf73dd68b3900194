"""How a package's door loads what it offers: on first use, each name from its own module."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping

__all__ = ["door"]


def door(package: str, names: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Make the `__getattr__` and `__dir__` of a lazy package.

    Args:
        package: The package's `__name__`.
        names: Public name to the full name of the module that defines it.

    Returns:
        The two functions to bind in the package's `__init__`, in its `else:` of `if TYPE_CHECKING:`.
    """

    def load(name: str) -> object:
        module = names.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        value = getattr(importlib.import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    def listing() -> list[str]:
        return sorted({*vars(sys.modules[package]), *names})

    return load, listing
