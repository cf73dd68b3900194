"""How an optional package is imported: when used, with an error that names the extra to install."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from agentfootprint.errors import MissingExtraError

__all__ = ["optional"]


@contextmanager
def optional(package: str, *, extra: str, needed_by: str) -> Generator[None]:
    """Turn a missing package into a `MissingExtraError`; a package that is broken inside stays as it is.

    Args:
        package: Top-level name of the imported package.
        extra: The extra of this library that installs it.
        needed_by: What the user asked for.

    Raises:
        MissingExtraError: The package is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] != package:
            raise
        raise MissingExtraError(
            f"{needed_by} needs the package {package!r}.",
            fix=f'Install it with: pip install "agentfootprint[{extra}]".',
        ) from missing
