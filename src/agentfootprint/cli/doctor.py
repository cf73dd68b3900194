"""`agentfootprint doctor`: is this installation sound, and what could be added? Prints no secrets."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import sqlite3
import sys
import tempfile
from dataclasses import dataclass
from typing import Any, Final

import typer

from agentfootprint.cli.failing import SAYS_NO
from agentfootprint.cli.front import streams_of
from agentfootprint.cli.vendors import OLLAMA, VENDORS, Address, Vendor, is_set, ollama_address
from agentfootprint.cli.version import installed_version
from agentfootprint.explain import escaped, folded

__all__ = ["HELP", "Check", "doctor"]

HELP: Final = """\
Usage: agentfootprint doctor [OPTIONS]

Check this installation: Python, SQLite, the packages, which extras are there,
and for each vendor of models what it still needs: its package, its key, for
Ollama that something listens; no vendor is called. Prints no secrets: of a
key, only whether it is set.

Output     --json -q

Examples   agentfootprint doctor
"""
OLDEST_PYTHON: Final = (3, 11)
OLDEST_SQLITE: Final = (3, 35, 0)
KEYS: Final = (
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "AZURE_OPENAI_ENDPOINT",
    "GEMINI_API_KEY",
    "AWS_PROFILE",
    "OLLAMA_HOST",
)
_COLUMN: Final = 21
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA: Final = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    found: str
    fix: str | None = None
    """What to do; `None` when nothing has to be done."""

    @property
    def is_good(self) -> bool:
        """Whether it passed."""
        return self.fix is None


@dataclass(frozen=True, slots=True)
class Readiness:
    """What one vendor of models has and lacks here."""

    vendor: Vendor
    installed: str | None
    """The versions of its packages; `None` when one of them is missing."""
    keys: dict[str, bool]
    """Whether each variable it needs is set."""
    address: Address | None = None
    """Where Ollama is expected; `None` when its variable holds no address, and for the others."""
    listens: bool = False
    """Whether something listens there."""


def doctor(context: typer.Context) -> None:
    """Check this installation. Prints no secrets."""
    streams = streams_of(context)
    checks = [_python(), _sqlite(), *_packages(), _folder()]
    extras = _extras()
    vendors = [_readiness(vendor, extras) for vendor in VENDORS]
    bad = [check for check in checks if not check.is_good]
    verdict = "OK     everything that is needed is there" if not bad else f"FAILED {', '.join(c.name for c in bad)}"
    streams.give(
        text=lambda: _told(checks, extras, vendors, verdict, streams.width),
        line=lambda: verdict,
        document=lambda: _document(checks, extras, vendors),
    )
    if bad:
        raise typer.Exit(SAYS_NO)


def _python() -> Check:
    found = f"{platform.python_version()} {platform.python_implementation()}"
    needed = ".".join(map(str, OLDEST_PYTHON))
    return Check("python", found, None if sys.version_info >= OLDEST_PYTHON else f"Install Python {needed} or newer.")


def _sqlite() -> Check:
    needed = ".".join(map(str, OLDEST_SQLITE))
    is_old = sqlite3.sqlite_version_info < OLDEST_SQLITE
    return Check("sqlite", sqlite3.sqlite_version, f"Use a Python with SQLite {needed} or newer." if is_old else None)


def _packages() -> list[Check]:
    checks: list[Check] = []
    for name in _requirements().get("", ()):
        found = _version_of(name)
        checks.append(Check(name, found or "not installed", None if found else f"pip install {name}"))
    return checks


def _folder() -> Check:
    """Recordings and pages are written to a temporary name first, in the folder they go to."""
    try:
        with tempfile.NamedTemporaryFile(dir=".", prefix=".agentfootprint-"):
            return Check("this folder", "can be written")
    except OSError:
        return Check("this folder", "can't be written", "Go to a folder of your own, or name output files elsewhere.")


def _requirements() -> dict[str, list[str]]:
    """Names of the packages this one needs, by extra; `""` is what is always needed."""
    found: dict[str, list[str]] = {}
    try:
        lines = importlib.metadata.requires("agentfootprint") or []
    except importlib.metadata.PackageNotFoundError:
        return found
    for line in lines:
        name, extra = _NAME.match(line), _EXTRA.search(line)
        if name is not None:
            found.setdefault(extra[1] if extra else "", []).append(name[0])
    return found


def _version_of(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _extras() -> dict[str, str | None]:
    """Every extra with the versions of its packages; `None` when one of them is missing."""
    extras: dict[str, str | None] = {}
    for extra, names in sorted(_requirements().items()):
        if extra:
            versions = [(name, _version_of(name)) for name in names]
            there = all(version for _, version in versions)
            extras[extra] = ", ".join(f"{name} {version}" for name, version in versions) if there else None
    return extras


def _readiness(vendor: Vendor, extras: dict[str, str | None]) -> Readiness:
    keys = {name: is_set(name) for name in vendor.variables}
    installed = extras.get(vendor.extra)
    if vendor.name != OLLAMA:
        return Readiness(vendor, installed, keys)
    address = ollama_address()
    return Readiness(vendor, installed, keys, address, listens=address is not None and address.listens())


def _told(
    checks: list[Check], extras: dict[str, str | None], vendors: list[Readiness], verdict: str, width: int
) -> str:
    lines = [f"agentfootprint {installed_version()}", ""]
    for check in checks:
        lines.append(f"  {check.name:<18} {check.found}")
        if check.fix is not None:
            lines += folded(check.fix, width, start="    fix: ", rest="         ")
    lines += ["", "Models"]
    for ready in vendors:
        said = [_package_text(ready.vendor.extra, ready.installed)]
        said += [f"{name} {'set' if there else 'not set'}" for name, there in ready.keys.items()]
        said += [_listening_text(ready)] if ready.vendor.name == OLLAMA else []
        for number, text in enumerate(said):
            start = "" if number else ready.vendor.name
            lines += folded(escaped(text), width, start=f"  {start:<18} ", rest=" " * _COLUMN)
    lines += ["", "Extras"]
    of_vendors = {vendor.extra for vendor in VENDORS}
    for extra, found in extras.items():
        if extra not in of_vendors:
            lines += folded(_package_text(extra, found), width, start=f"  {extra:<18} ", rest=" " * _COLUMN)
    return "\n".join([*lines, "", verdict])


def _package_text(extra: str, found: str | None) -> str:
    return found or f'not installed: pip install "agentfootprint[{extra}]"'


def _listening_text(ready: Readiness) -> str:
    if ready.address is None:
        return "OLLAMA_HOST holds no address: set it as in http://localhost:11434, or unset it"
    if ready.listens:
        return f"something listens at {ready.address}"
    return f"nothing listens at {ready.address}: ollama serve"


def _document(checks: list[Check], extras: dict[str, str | None], vendors: list[Readiness]) -> dict[str, Any]:
    return {
        "format": "agentfootprint.doctor/1",
        "version": installed_version(),
        "ok": all(check.is_good for check in checks),
        "checks": [
            {"name": check.name, "found": check.found, "ok": check.is_good, **({"fix": check.fix} if check.fix else {})}
            for check in checks
        ],
        "extras": {
            extra: {"installed": found is not None, **({"found": found} if found else {})}
            for extra, found in extras.items()
        },
        "keys": {name: _word(is_set(name)) for name in KEYS},
        "vendors": {
            ready.vendor.name: {
                "installed": ready.installed is not None,
                "extra": ready.vendor.extra,
                "keys": {name: _word(there) for name, there in ready.keys.items()},
                **(
                    {"address": str(ready.address) if ready.address else None, "listens": ready.listens}
                    if ready.vendor.name == OLLAMA
                    else {}
                ),
            }
            for ready in vendors
        },
    }


def _word(there: bool) -> str:
    return "set" if there else "not set"
