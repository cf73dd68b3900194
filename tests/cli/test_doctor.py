"""Tests of agentfootprint.cli.doctor."""

from __future__ import annotations

import importlib.metadata
import socket
from pathlib import Path

import pytest

from agentfootprint.cli import doctor
from agentfootprint.cli.version import installed_version
from tests.cli.commands import afp, widest


def test_a_sound_installation_passes_and_says_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    ran = afp("doctor")

    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"agentfootprint {installed_version()}\n")
    for word in ("python", "sqlite", "msgspec", "pydantic", "redis", "postgres", "OPENAI_API_KEY"):
        assert f"  {word} " in ran.out
    assert ran.out.endswith("\nOK     everything that is needed is there\n")
    assert widest(ran.out) <= 80
    assert list(tmp_path.iterdir()) == []


def test_of_a_key_only_whether_it_is_set_is_said() -> None:
    env: dict[str, str | None] = {"OPENAI_API_KEY": "sk-very-secret", "ANTHROPIC_API_KEY": " ", "GEMINI_API_KEY": None}
    text, document = afp("doctor", env=env), afp("doctor", "--json", env=env)

    assert "secret" not in text.out + document.out
    assert f"{'':21}OPENAI_API_KEY set\n" in text.out
    assert f"{'':21}ANTHROPIC_API_KEY not set\n" in text.out
    assert document.json["keys"]["OPENAI_API_KEY"] == "set"
    assert document.json["keys"]["ANTHROPIC_API_KEY"] == document.json["keys"]["GEMINI_API_KEY"] == "not set"
    assert document.json["vendors"]["openai"]["keys"] == {"OPENAI_API_KEY": "set"}
    assert document.json["format"] == "agentfootprint.doctor/1"
    assert document.json["ok"] is True


def test_each_vendor_says_what_it_lacks_and_a_lack_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    known = importlib.metadata.version

    def version(name: str) -> str:
        if name in {"anthropic", "httpx"}:
            raise importlib.metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(importlib.metadata, "version", version)

    ran = afp("doctor", env={"OLLAMA_HOST": "http://me:secret@127.0.0.1:9/", "ANTHROPIC_API_KEY": None})
    document = afp("doctor", "--json", env={"OLLAMA_HOST": "127.0.0.1:9"})

    assert ran.code == 0
    assert (
        '  anthropic          not installed: pip install "agentfootprint[anthropic]"\n'
        "                     ANTHROPIC_API_KEY not set\n"
    ) in ran.out
    assert (
        '  ollama             not installed: pip install "agentfootprint[ollama]"\n'
        "                     nothing listens at http://127.0.0.1:9: ollama serve\n"
    ) in ran.out
    assert "secret" not in ran.out
    assert widest(ran.out) <= 80
    assert document.json["vendors"]["anthropic"]["installed"] is False
    assert document.json["vendors"]["ollama"] == {
        "installed": False,
        "extra": "ollama",
        "keys": {},
        "address": "http://127.0.0.1:9",
        "listens": False,
    }


def test_ollama_is_knocked_at_and_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    knocked: list[object] = []

    def connect(address: object, **_: object) -> socket.socket:
        knocked.append(address)
        return socket.socket()

    monkeypatch.setattr(socket, "create_connection", connect)

    ran = afp("doctor", env={"OLLAMA_HOST": None, "OPENAI_API_KEY": "sk-very-secret"})

    assert knocked == [("localhost", 11434)]
    assert "                     something listens at http://localhost:11434\n" in ran.out


def test_an_address_that_is_none_is_said() -> None:
    ran = afp("doctor", env={"OLLAMA_HOST": "http://h:port"})

    assert ran.code == 0
    assert "OLLAMA_HOST holds no address" in ran.out


def test_a_missing_package_fails_with_its_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    known = importlib.metadata.version

    def version(name: str) -> str:
        if name == "msgspec":
            raise importlib.metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(importlib.metadata, "version", version)

    ran, document = afp("doctor"), afp("doctor", "--json")

    assert ran.code == 1
    assert "  msgspec            not installed\n    fix: pip install msgspec\n" in ran.out
    assert ran.out.endswith("\nFAILED msgspec\n")
    assert (document.code, document.json["ok"]) == (1, False)
    assert afp("doctor", "-q").out == "FAILED msgspec\n"


def test_a_folder_that_can_not_be_written_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(doctor.tempfile, "NamedTemporaryFile", refuse)

    assert "  this folder        can't be written\n    fix: Go to a folder" in afp("doctor").out
