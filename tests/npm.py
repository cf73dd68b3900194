"""Packages of npm for a test folder: installed once for all processes of a test run, from a lock file."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

__all__ = ["installed"]


def installed(
    source: Path, npm: str, factory: pytest.TempPathFactory, *, then: Callable[[Path], object] | None = None
) -> Path:
    """A copy of a folder of tests, without its Python, with the packages of its lock file.

    Without CI set, the test is skipped where npm can't install them.

    Args:
        source: The folder; its `package-lock.json` names no registry, so that npm asks its own.
        npm: Path of npm.
        factory: Where the copy goes.
        then: What is made of it once, such as a build.
    """
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # what the workers have in common
    ready = base / f"npm-{source.name}"
    with (base / f"npm-{source.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            work = base / f"npm-{source.name}-unfinished"
            shutil.rmtree(work, ignore_errors=True)
            shutil.copytree(source, work, ignore=shutil.ignore_patterns("__pycache__", "*.py"))
            command = [npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
            done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
            if done.returncode != 0 and not os.environ.get("CI"):
                pytest.skip(f"npm could not install the packages of {source.name} here")
            assert done.returncode == 0, done.stderr
            if then is not None:
                then(work)
            work.rename(ready)
    return ready
