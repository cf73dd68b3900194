"""The packages of npm that these tests need, installed once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.npm import installed


@pytest.fixture(scope="session")
def packages(npm: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which Node finds them, beside this folder's scripts."""
    return installed(Path(__file__).parent, npm, tmp_path_factory)
