"""How does the command start and end, so that Ctrl-C ends it in order at any moment?

Invariants: nothing that takes time is imported at the top of this module, so that it is imported under the guard; a
program that was started to ignore Ctrl-C goes on ignoring it.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys

__all__ = ["main"]

_INTERRUPTED = 130


def main() -> None:
    """Run the command that was typed, and exit with its code."""
    listens = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    try:
        if listens:
            signal.signal(signal.SIGINT, _end_now)
        _start()
    except KeyboardInterrupt:
        _end_now()
    finally:  # all is said and flushed: while the interpreter waits for a thread, or ends, there is nothing to say
        if listens:
            signal.signal(signal.SIGINT, _end_in_silence)
            atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def _start() -> None:
    from agentfootprint.cli.streams import Streams, read_choices

    choices, words = read_choices(sys.argv[1:])
    if words == ["--version"]:  # asked by scripts again and again: none of the commands is loaded for it
        from agentfootprint.cli.version import tell_version

        tell_version(Streams(choices))
        return
    from agentfootprint.cli.program import app

    if signal.getsignal(signal.SIGINT) is _end_now:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # from here on a command may have a part to show
    app()


def _end_now(*_: object) -> None:
    """End without the interpreter's way of doing so: an exception in the middle of an import may be lost there."""
    try:
        if "-qq" not in sys.argv:
            os.write(2, b"Interrupted.\n")
    finally:
        os._exit(_INTERRUPTED)


def _end_in_silence(*_: object) -> None:
    os._exit(_INTERRUPTED)
