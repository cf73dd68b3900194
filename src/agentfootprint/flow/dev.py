"""Whether somebody is developing: then what is odd but no error is said, once where it happens (FLOW-PY-26)."""

from __future__ import annotations

import logging
import os
import warnings

__all__ = ["FlowDevWarning", "dev_warning", "enable_dev_mode", "is_dev_mode"]

_LOG = logging.getLogger("agentfootprint.flow")
_enabled: list[bool] = []
"""Whether `enable_dev_mode` was called; a process has one answer."""


class FlowDevWarning(UserWarning):
    """Something that works, but probably not as it was meant."""


def enable_dev_mode(*, on: bool = True) -> None:
    """Have oddities said, in this process; the environment variable `AGENTFOOTPRINT_DEV=1` does the same."""
    _enabled[:] = [on]


def is_dev_mode() -> bool:
    """Whether oddities are said."""
    return _enabled[0] if _enabled else os.environ.get("AGENTFOOTPRINT_DEV") == "1"


def dev_warning(text: str, *, stacklevel: int = 3) -> None:
    """Say an oddity, as a `FlowDevWarning` and to the logger `agentfootprint.flow`; silent out of dev mode."""
    if is_dev_mode():
        _LOG.warning("%s", text)
        warnings.warn(text, FlowDevWarning, stacklevel=stacklevel)
