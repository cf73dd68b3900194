"""Questions that a run waits with, answered by a later request: is each answered, by whom, and with what?"""

from __future__ import annotations

__all__: list[str] = []
