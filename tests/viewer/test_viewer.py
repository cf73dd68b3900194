"""Tests that a recording on the wire opens in the reference's viewer components, as published on npm."""

from __future__ import annotations

import json
import mimetypes
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.landed import ROOT
from tests.npm import installed
from tests.viewer.runs import RUNS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

ARTEFACTS = Path(os.environ.get("AGENTFOOTPRINT_ARTEFACTS") or ROOT / "build" / "artefacts") / "viewer"
ORIGIN = "http://viewer.test/"  # never asked for: what the page wants is answered from a folder

pytestmark = pytest.mark.browser

Open = Callable[[str, str], "Page"]
Wires = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def wires() -> Wires:
    """The recordings on the wire; made before the browser is open, whose event loop counts as running."""
    return {name: json.loads(json.dumps(run().to_wire())) for name, run in RUNS.items()}


@pytest.fixture(scope="module")
def built(node: str, npm: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the page, built with Vite."""

    def build(folder: Path) -> None:
        command = [node, "node_modules/vite/bin/vite.js", "build", "page", "--outDir", "../dist"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    return installed(Path(__file__).parent, npm, tmp_path_factory, then=build) / "dist"


@pytest.fixture
def open_run(wires: Wires, built: Path, browser: Browser) -> Iterator[Open]:
    """Open a recording in a view of the page; at the end, fail on any console message, error or strange request."""
    complaints: list[str] = []
    contexts: list[Any] = []

    def open_in(view: str, name: str) -> Page:
        def answer(route: Route) -> None:
            asked = route.request.url.removeprefix(ORIGIN).partition("?")[0]
            file = built / asked
            if asked == f"runs/{name}.json":
                route.fulfill(json=wires[name])
            elif route.request.url.startswith(ORIGIN) and file.is_file():
                route.fulfill(path=file, content_type=mimetypes.guess_type(file.name)[0])
            else:
                complaints.append(f"request: {route.request.url}")
                route.abort()

        context = browser.new_context(viewport={"width": 1440, "height": 900})
        contexts.append(context)
        context.route("**/*", answer)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(f"console {message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.goto(f"{ORIGIN}index.html?view={view}&run={name}")
        return page

    yield open_in
    for context in contexts:
        context.close()
    assert complaints == []


def stages_of(node: dict[str, Any]) -> list[dict[str, Any]]:
    """The stages of an execution tree, in the order in which they ran."""
    rest = [*node.get("children", []), *([node["next"]] if "next" in node else [])]
    return [node, *(stage for each in rest for stage in stages_of(each))]


def now_is(page: Page, name: str) -> None:
    from playwright.sync_api import expect

    expect(page.locator(".react-flow__node", has_text="NOW")).to_contain_text(name)


def keep(page: Page, name: str) -> None:
    """A picture of the page, kept for people to look at."""
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    page.wait_for_function("document.getAnimations().every((each) => each.playState !== 'running' || "
                           "each.effect.getTiming().iterations === Infinity)")  # fmt: skip
    page.screenshot(path=ARTEFACTS / f"{name}.png")


each_run = pytest.mark.parametrize("name", RUNS)


@each_run
def test_the_shell_shows_the_chart_the_stages_and_what_each_did(name: str, wires: Wires, open_run: Open) -> None:
    snapshot = wires[name]["snapshot"]
    stages = stages_of(snapshot["executionTree"])
    page = open_run("shell", name)

    nodes = page.locator(".react-flow__node")
    nodes.first.wait_for()
    shown = "\n".join(nodes.all_inner_texts())
    assert [stage["name"] for stage in stages if stage["name"] not in shown] == []
    steps = page.get_by_role("toolbar", name="Time travel controls").locator("button[title]:not([aria-label])")
    assert [step.get_attribute("title") for step in steps.all()] == [stage["id"] for stage in stages]
    assert page.get_by_text(f"{len(stages)} stages").is_visible()

    said = [place for place, stage in enumerate(stages) if stage["id"] == "call-llm"][-1]
    steps.nth(said).click()
    now_is(page, "CallLLM")
    assert "agentfootprint.stream.llm_end" in page.get_by_role("list", name="Events").inner_text()
    keep(page, f"{name}-shell")
    page.get_by_role("button", name="Inspector").click()
    answer = snapshot["sharedState"]["llmLatestContent"]
    page.get_by_text(answer).first.wait_for()
    keep(page, f"{name}-inspector")


@each_run
def test_a_mounted_chart_opens_from_the_chart(name: str, open_run: Open) -> None:
    page = open_run("shell", name)

    page.locator(".react-flow__node", has_text="Injection Engine").click()

    page.locator(".react-flow__node", has_text="Gather").wait_for()
    inner = page.locator(".react-flow__node").all_inner_texts()
    assert {text.splitlines()[-1] for text in inner} == {"Gather", "Evaluate", "Route", "Delta"}
    keep(page, f"{name}-mounted")


@each_run
def test_the_debugger_shows_the_state_of_the_last_stage(name: str, wires: Wires, open_run: Open) -> None:
    snapshot = wires[name]["snapshot"]
    stages = stages_of(snapshot["executionTree"])
    page = open_run("debugger", name)

    page.locator("input[type=range]").fill(str(len(stages) - 1))

    page.get_by_text(f"{len(stages)}/{len(stages)}").wait_for()
    page.get_by_text(snapshot["sharedState"]["llmLatestContent"]).first.wait_for()
    now_is(page, "Final")
    keep(page, f"{name}-debugger")


@each_run
def test_a_trace_of_it_opens_in_the_drop_in_viewer(name: str, wires: Wires, open_run: Open) -> None:
    snapshot = wires[name]["snapshot"]
    stages = stages_of(snapshot["executionTree"])
    page = open_run("trace", name)

    page.get_by_role("button", name="Inspector").click()
    steps = page.get_by_role("toolbar", name="Time travel controls").locator("button[title]:not([aria-label])")
    steps.last.click()

    assert page.get_by_text(f"{len(stages)} stages").is_visible()
    now_is(page, "Final")
    page.get_by_text(snapshot["sharedState"]["llmLatestContent"]).first.wait_for()
    keep(page, f"{name}-trace")
