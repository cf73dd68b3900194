"""How is a checkpoint kept where others can read? Sealed with a cipher of the caller's (FLOW-RED-14).

A checkpoint needs the real values, so redaction leaves it as it is. Sealing encrypts all of it but two facts: that it
is sealed, and that it is sensitive. Tree and results of mounts are left out: a resume never looks at them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from agentfootprint.flow.errors import CheckpointError

__all__ = ["SEALED", "opened", "sealed"]

SEALED: Final = "sealed"
"""The wire key that holds a sealed checkpoint."""
_SHOWN: Final = ("executionTree", "subflowResults")


def sealed(wire: Mapping[str, Any], seal: Callable[[bytes], bytes]) -> dict[str, Any]:
    """A checkpoint's wire form, encrypted.

    Args:
        wire: The plain form.
        seal: Encrypts and authenticates bytes: `Fernet(key).encrypt`, for example.

    Raises:
        CheckpointError: It is nested too deeply to be written as one text.
    """
    needed = {key: value for key, value in wire.items() if key not in _SHOWN}
    try:
        text = json.dumps(needed, ensure_ascii=False, separators=(",", ":"))
    except RecursionError as error:
        raise CheckpointError(
            SEALED, "The checkpoint is nested too deeply to be sealed.", fix="Keep such values outside the state."
        ) from error
    return {SEALED: base64.b64encode(seal(text.encode())).decode("ascii"), "sensitive": True}


def opened(wire: Mapping[str, Any], unseal: Callable[[bytes], bytes] | None) -> Mapping[str, Any]:
    """The plain form of a checkpoint; one that is not sealed is returned as it is.

    Raises:
        CheckpointError: It is sealed and there is no `unseal`, or that can't open it; nothing of its content is told.
    """
    if SEALED not in wire:
        return wire
    if unseal is None:
        raise CheckpointError(
            SEALED, "The checkpoint is sealed.", fix="Read it with `PauseCheckpoint.from_wire(wire, unseal=...)` first."
        )
    try:
        plain = json.loads(unseal(base64.b64decode(wire[SEALED], validate=True)))
    except Exception as error:  # whatever the caller's cipher raises
        raise _unreadable(error) from error
    if not isinstance(plain, dict):
        raise _unreadable(TypeError())
    return cast("dict[str, Any]", plain)


def _unreadable(error: Exception) -> CheckpointError:
    return CheckpointError(
        SEALED,
        f"The sealed checkpoint can't be opened ({type(error).__name__}).",
        fix="Open it with the function that belongs to the one it was sealed with, and the same key.",
    )
