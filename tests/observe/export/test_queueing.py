"""Tests of agentfootprint.observe.export.queueing: what becomes of a queue when the program ends."""

from __future__ import annotations

import subprocess
import sys


def test_what_waits_when_the_program_ends_is_exported() -> None:
    program = """
import time
from agentfootprint.events import EventBus, UnknownEvent
from agentfootprint.observe import ExportOptions, attach_exporter

class Slow:
    name = "slow"

    def export(self, event):
        time.sleep(0.001)
        print(event.payload["number"])

bus = EventBus()
attach_exporter(lambda pattern, listener, form="native": bus.on(pattern, listener), Slow(), ExportOptions(detach=True))
for number in range(100):
    bus.dispatch(UnknownEvent("shop.filled", {"number": number}, {}))
"""

    done = subprocess.run([sys.executable, "-c", program], check=True, timeout=60, capture_output=True, text=True)

    assert done.stderr == ""
    assert done.stdout.split() == [str(number) for number in range(100)]
