"""Tests of the chat page in examples/agui_chat, in a real browser against its own server."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.landed import ROOT
from tests.serving import Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, Route

pytestmark = pytest.mark.browser

PROGRAM = ROOT / "examples" / "agui_chat" / "app.py"
ARTEFACTS = Path(os.environ.get("AGENTFOOTPRINT_ARTEFACTS") or ROOT / "build" / "artefacts") / "agui-chat"

OpenChat = Callable[..., "Page"]


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with Served(PROGRAM) as served:
        yield served


@pytest.fixture
def open_chat(server: Served, browser: Browser) -> Iterator[OpenChat]:
    """Open the page; at the end, fail on any console message, error or request to elsewhere."""
    complaints: list[str] = []
    contexts: list[Any] = []

    def open_page(*, width: int = 900, height: int = 800, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(f"console {message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on(
            "request",
            lambda request: (
                None if request.url.startswith((server.url, "data:")) else complaints.append(f"request: {request.url}")
            ),
        )
        page.goto(server.url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def say(page: Page, text: str) -> None:
    page.get_by_label("Message").fill(text)
    page.get_by_role("button", name="Send").click()


def messages(page: Page) -> Locator:
    return page.get_by_role("log", name="Conversation").locator("> li")


def question(page: Page) -> Locator:
    return page.locator(".question")


def keep(page: Page, name: str) -> None:
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png")


def wait_until_idle(page: Page) -> None:
    page.get_by_role("button", name="Stop").wait_for(state="hidden")


WATCH = """() => {
  globalThis.seen = [];
  new MutationObserver(() => {
    const text = [...document.querySelectorAll("[data-role=assistant] .text")].at(-1)?.textContent;
    if (text && text !== seen.at(-1)) seen.push(text);
  }).observe(document.getElementById("messages"), { childList: true, subtree: true, characterData: true });
}"""


def test_a_question_is_answered_in_a_stream_with_the_tool_that_was_called(open_chat: OpenChat) -> None:
    page = open_chat()

    page.evaluate(WATCH)

    say(page, "Where is <b>A-1</b>?")
    wait_until_idle(page)

    seen = page.evaluate("seen")
    assert len(seen) > 10, "the text came piece by piece"
    assert all(later.startswith(earlier) for earlier, later in pairwise(seen))
    assert seen[-1] == messages(page).last.locator(".text").inner_text()
    assert "lamp" in seen[-1]
    assert messages(page).first.locator(".text").inner_text() == "Where is <b>A-1</b>?"
    assert messages(page).locator("b").count() == 0
    call = page.locator(".calls > li")
    assert call.locator(".name").inner_text() == "lookup_order"
    assert call.locator(".state").inner_text() == "done"
    call.locator("summary").click()
    assert '"order_id": "A-1"' in call.locator(".arguments").inner_text()
    assert '"status": "delivered"' in call.locator(".result").inner_text()
    keep(page, "answered")


@pytest.mark.parametrize(
    ("button", "outcome", "answer"),
    [("Approve", "48.00 paid back for A-1", "the money is on its way"), ("Decline", "declined", "paid nothing back")],
)
def test_a_person_decides_and_the_run_goes_on(open_chat: OpenChat, button: str, outcome: str, answer: str) -> None:
    page = open_chat()
    say(page, "Refund A-1, please.")

    question(page).wait_for()
    wait_until_idle(page)
    keep(page, f"asked-{button.lower()}")
    assert page.get_by_label("Message").is_disabled()
    assert "order_id=A-1, amount=48" in question(page).inner_text()
    assert page.locator(".calls .state").inner_text() == "waiting for you"
    question(page).get_by_label("Note").fill("called back")
    question(page).get_by_role("button", name=button).click()
    wait_until_idle(page)

    assert question(page).count() == 0
    assert answer in messages(page).last.inner_text()
    assert len(page.locator(".calls > li").all()) == 1
    assert outcome in (page.locator(".calls .result").text_content() or "")
    assert page.get_by_label("Message").is_enabled()
    keep(page, f"decided-{button.lower()}")


def test_a_second_message_goes_on_with_the_thread(open_chat: OpenChat) -> None:
    page = open_chat()
    say(page, "Where is A-1?")
    wait_until_idle(page)

    say(page, "Refund it.")

    question(page).wait_for()
    assert page.locator("[data-role=user]").all_inner_texts()[-1].endswith("Refund it.")
    assert page.locator(".calls > li").count() == 2


def test_a_run_can_be_stopped(open_chat: OpenChat) -> None:
    page = open_chat()

    say(page, "Where is A-1?")
    messages(page).filter(has_text="Order A-1").wait_for()
    page.get_by_role("button", name="Stop").click()

    assert page.get_by_role("alert").inner_text() == "Stopped."
    assert "Shall I refund" not in messages(page).last.inner_text()


def test_what_goes_wrong_is_said(open_chat: OpenChat) -> None:
    page = open_chat()
    ended = 'data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}\n\n: a heartbeat\n\n'
    wrong = 'data: {"type":"RUN_ERROR","message":"The model is not there."}\n\n'
    answers = [(200, ended), (200, ended + wrong)]
    page.route(
        "**/api/agent",
        lambda route: route.fulfill(status=answers[0][0], content_type="text/event-stream", body=answers.pop(0)[1]),
    )
    told: list[str] = []

    for text in ("one", "two"):
        say(page, text)
        wait_until_idle(page)
        told.append(page.get_by_role("alert").inner_text())

    assert told == ["The connection ended before the answer did.", "The model is not there."]


def test_open_questions_are_answered_together_in_words_or_not_at_all(open_chat: OpenChat) -> None:
    page = open_chat()
    asked = [{"id": name, "reason": "input_required", "message": f"Which {name}?"} for name in ("day", "hour")]
    frames = [{"type": "RUN_FINISHED", "outcome": {"type": "interrupt", "interrupts": asked}}, {"type": "RUN_FINISHED"}]
    sent: list[Any] = []

    def answer(route: Route) -> None:
        sent.append(route.request.post_data_json)
        route.fulfill(content_type="text/event-stream", body=f"data: {json.dumps(frames.pop(0))}\n\n")

    page.route("**/api/agent", answer)
    say(page, "Book it.")
    day, hour = question(page).filter(has_text="Which day?"), question(page).filter(has_text="Which hour?")

    hour.get_by_role("button", name="Cancel").click()
    day.get_by_label("Answer").fill("Monday")
    day.get_by_role("button", name="Answer").click()
    wait_until_idle(page)

    assert [request["threadId"] for request in sent] == [sent[0]["threadId"]] * 2
    assert sent[0]["runId"] != sent[1]["runId"]
    assert [message["content"] for message in sent[0]["messages"]] == ["Book it."]
    assert sent[1]["resume"] == [
        {"interruptId": "hour", "status": "cancelled"},
        {"interruptId": "day", "status": "resolved", "payload": "Monday"},
    ]


def test_it_works_by_keyboard_alone_and_fits_a_phone(open_chat: OpenChat) -> None:
    page = open_chat(width=390, height=700, color_scheme="dark")

    page.keyboard.type("Refund A-1, please.")
    page.keyboard.press("Enter")
    question(page).wait_for()
    wait_until_idle(page)
    keep(page, "phone-dark")
    assert page.evaluate("document.activeElement.textContent") == "Approve"
    page.keyboard.press("Enter")
    wait_until_idle(page)

    assert re.search("on its way", messages(page).last.inner_text())
    assert page.evaluate("document.activeElement.id") == "text"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
