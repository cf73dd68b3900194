"""Tests of agentfootprint.cli.agents."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentfootprint.cli.agents import import_agent, running_their_code
from agentfootprint.cli.errors import AgentFailedError, AgentNotFoundError, UsageError
from agentfootprint.explain import NoAgentError


def test_the_current_directory_comes_first(desk: Path) -> None:
    agent = import_agent("refunds:agent")

    assert agent.run_sync("Should order A-1001 be refunded?").text.startswith("Refund APPROVED")  # type: ignore[attr-defined]  # an Agent


def test_an_attribute_may_have_dots(desk: Path) -> None:
    (desk / "shop.py").write_text("import refunds\n", encoding="utf-8")

    assert import_agent("shop:refunds.agent") is import_agent("refunds:agent")


@pytest.mark.parametrize("named", ["refunds", "refunds:", ":agent", ""])
def test_a_name_of_another_form_is_refused(named: str) -> None:
    with pytest.raises(UsageError, match=r"is no MODULE:ATTRIBUTE\. Write it as in --agent refunds:agent\."):
        import_agent(named)


def test_a_file_name_is_answered_with_the_module_name() -> None:
    with pytest.raises(UsageError, match=r"names a file\. Name the module: --agent shop\.refunds:agent\."):
        import_agent("shop/refunds.py:agent")


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("nowhere:agent", r"There is no module 'nowhere' here\."),
        ("refunds:agnt", r"'refunds' has no 'agnt'\. It has .*agent"),
        ("refunds:model", r"refunds:model is of type function, not an agent\."),
        ("refunds:AgentClass", r"refunds:AgentClass is of type type, not an agent\."),
        ("raising:agent", r"Importing 'raising' raised ZeroDivisionError in raising\.py:1\."),
        ("needing:agent", r"Importing 'needing' needs the package 'no_such_package_here'\."),
    ],
)
def test_what_can_not_be_imported_is_named(named: str, said: str, desk: Path) -> None:
    (desk / "raising.py").write_text("1 / 0\n", encoding="utf-8")
    (desk / "needing.py").write_text("import no_such_package_here\n", encoding="utf-8")

    with pytest.raises(AgentNotFoundError, match=said) as caught:
        import_agent(named)

    assert caught.value.code == "ERR_AGENT_NOT_FOUND"


def test_an_exception_of_the_users_code_is_told_without_its_words() -> None:
    said = r"The agent raised JSONDecodeError in test_agents\.py:\d+"

    with pytest.raises(AgentFailedError, match=said) as caught, running_their_code():
        json.loads("secret")

    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is not None


def test_an_error_of_the_library_passes_as_it_is() -> None:
    with pytest.raises(NoAgentError), running_their_code():
        raise NoAgentError


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("./refunds:agent", r"Name the module: --agent refunds:agent\."),
        ("./shop/refunds.py:agent", r"Name the module: --agent shop\.refunds:agent\."),
        ("refunds/:agent", r"Name the module: --agent refunds:agent\."),
        (r"shop\refunds.py:agent", r"Name the module: --agent shop\.refunds:agent\."),
        (".refunds:agent", r"Name the module: --agent refunds:agent\."),
        ("../shop/refunds:agent", r"Go to \.\./shop, and name the module: --agent refunds:agent\."),
        ("/shop/refunds.py:agent", r"Go to /shop, and name the module: --agent refunds:agent\."),
        (r"C:\shop\refunds.py:agent", r"Go to C:/shop, and name the module: --agent refunds:agent\."),
    ],
)
def test_a_path_is_answered_with_what_to_type(named: str, said: str) -> None:
    with pytest.raises(UsageError, match=rf"names a file\. {said}"):
        import_agent(named)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import sys\nsys.exit(3)\n", r"raised SystemExit in leaving\.py:2\."),
        ("def f(:\n", r"raised SyntaxError in leaving\.py:1\."),
        ("a = 1\nb = [\n", r"raised SyntaxError in leaving\.py:2\."),
        ("import json\njson.loads('')\n", r"raised JSONDecodeError in decoder\.py:\d+\."),
    ],
)
def test_a_module_that_ends_the_program_or_is_no_python_is_named(source: str, said: str, desk: Path) -> None:
    (desk / "leaving.py").write_text(source, encoding="utf-8")

    with pytest.raises(AgentNotFoundError, match=f"Importing 'leaving' {said}"):
        import_agent("leaving:agent")


def test_an_agent_that_ends_the_program_is_told() -> None:
    with pytest.raises(AgentFailedError, match=r"The agent raised SystemExit in test_agents\.py"), running_their_code():
        raise SystemExit(3)


def test_what_a_process_of_theirs_prints_goes_to_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    with running_their_code():
        subprocess.run([sys.executable, "-c", "print('theirs')"], check=True)
        os.write(1, b"to the descriptor\n")
    os.write(1, b"ours\n")

    out, err = capfd.readouterr()
    assert out == "ours\n"
    assert err.split("\n")[:2] == ["theirs", "to the descriptor"]
