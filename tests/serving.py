"""An ASGI application in a process of its own, at an address that stays when the process is replaced."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.landed import ROOT

__all__ = ["Served"]


class Served:
    """A server of `app` in a Python file, listening from the moment this is made.

    The socket belongs to this process and is lent to each server; what asks while none runs waits for the next one.

    Args:
        program: The file that makes `app`.
        environment: More variables for it.
    """

    def __init__(self, program: Path, **environment: str) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=100)
        self._program = program
        self._environment: Mapping[str, str] = environment
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start a process; one that runs must be stopped before."""
        lent = self._socket.fileno()
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "tests.serving", str(self._program), str(lent)],
            pass_fds=(lent,),
            cwd=ROOT,
            env={**os.environ, **self._environment},
        )

    def kill(self) -> None:
        """End the process as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(timeout=20)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.kill()
        self._socket.close()


def _main(program: str, lent: str) -> None:
    import runpy

    import uvicorn

    app = runpy.run_path(program)["app"]
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[socket.socket(fileno=int(lent))])


if __name__ == "__main__":
    _main(*sys.argv[1:])
