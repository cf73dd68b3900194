"""Tests of the page of agentfootprint.explain.board in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from agentfootprint.explain.board import render_board
from tests.explain.board.sample import (
    ANSWER,
    BASE,
    ORDER,
    STYLE,
    VIP,
    refund,
    refund_flat,
    refund_inconclusive,
    refund_partial,
    refund_proven,
)
from tests.explain.board.sample_edges import hostile, long_run

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.browser.conftest import Open

pytestmark = pytest.mark.browser

SAMPLES: list[Callable[[], Any]] = [
    refund,
    refund_proven,
    refund_flat,
    refund_inconclusive,
    refund_partial,
    long_run,
    hostile,
]
each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.__name__)


def request_of(page: Page) -> Locator:
    return page.get_by_role("region", name="The request, word for word")


def chosen_hop(page: Page) -> Locator:
    return page.locator(".tab[aria-selected=true]:visible")


def color(locator: Locator, name: str) -> str:
    return str(locator.evaluate(f"(node) => getComputedStyle(node).{name}"))


def test_the_culprit_is_highlighted_inside_the_prompt(open_page: Open) -> None:
    page = open_page(render_board(refund_proven()))

    marks = request_of(page).locator("mark")
    assert marks.all_inner_texts() == [VIP]
    assert marks.first.is_visible()
    segment = request_of(page).locator(".seg", has=page.locator("mark"))
    assert "vip-override-fact" in segment.inner_text()
    assert "79\u2013176" in segment.inner_text()
    plain = request_of(page).locator(".seg", has_text="style-fact")
    assert color(segment, "backgroundColor") != color(plain, "backgroundColor")
    assert color(marks.first, "backgroundColor") != color(segment, "backgroundColor")
    words = request_of(page).locator(".tx").all_inner_texts()
    assert words[:3] == [BASE, VIP, STYLE]
    assert words[-1] == ORDER


def test_another_source_moves_the_highlight_the_custody_and_the_shared_words(open_page: Open) -> None:
    page = open_page(render_board(refund_proven()))
    before = request_of(page).inner_text()

    page.get_by_role("radio", name="lookup_order").check()

    assert request_of(page).locator("mark").all_inner_texts() == [ORDER]
    assert page.locator("#custody-of").inner_text() == "lookup_order"
    assert page.locator("#said u").all_inner_texts() == ["47", "day", "order"]
    assert page.locator("#said").inner_text() == ANSWER
    assert page.locator("#live").inner_text() == "Custody of lookup_order"
    page.get_by_role("radio", name="vip-override-fact").check()
    assert request_of(page).inner_text() == before
    assert request_of(page).locator("mark").all_inner_texts() == [VIP]


@each_sample
def test_the_script_draws_the_request_and_the_changes_as_the_server_did(
    open_page: Open, sample: Callable[[], Any]
) -> None:
    markup = render_board(sample())
    drawn = open_page(markup)
    static = open_page(markup, java_script_enabled=False)

    drawn.locator("#to-call").dispatch_event("change")
    if drawn.locator("#whose").count():
        drawn.locator("#whose").dispatch_event("change")

    text = "(node) => node.textContent.replaceAll('These records stand in the document embedded in this page.', '')"
    for part in ("#request", "#changes-pair"):
        folded = ".between" if part == "#request" else "none"
        for each in drawn.locator(f"{part} {folded} summary").all():
            each.click()
            drawn.locator(f"{part} .between > .seg").first.wait_for()
        assert drawn.locator(part).evaluate(text) == static.locator(part).evaluate(text)


def test_the_page_works_by_keyboard_alone(open_page: Open) -> None:
    page = open_page(render_board(refund_proven()))
    focused = page.locator(":focus")

    def press(*keys: str) -> None:
        for key in keys:
            page.keyboard.press(key)
            assert focused.count() == 1, f"focus was lost at {key}"

    press("Tab")
    assert focused.inner_text() == "Skip to the answer"
    press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    press("Tab")
    assert focused.get_attribute("value") == "0"
    press("ArrowDown")
    assert page.locator("#custody-of").inner_text() == "lookup_order"
    press("ArrowUp", "Tab", "Tab")
    assert focused.get_attribute("data-hop") == "read"
    press("End")
    assert chosen_hop(page).inner_text().startswith("BORN")
    assert page.locator(".hop:visible").inner_text().count('Fact("vip-override-fact")') == 1
    press("ArrowRight")
    assert chosen_hop(page).inner_text().startswith("ANSWER")
    press("ArrowRight", "ArrowRight")
    assert chosen_hop(page).inner_text().startswith("LANDED")
    assert "System prompt composed" in page.locator("#moment").inner_text()
    page.get_by_label("Moment of the run").focus()
    press("Home")
    assert "Run starts" in page.locator("#moment").inner_text()
    press("PageDown", "PageDown")
    assert "iteration 2" in page.locator("#moment").inner_text()
    press("End", "ArrowLeft")
    assert "Decision: final" in page.locator("#moment").inner_text()
    press("Tab", "Enter", "Tab", "Enter")
    assert "Decision: final" in page.locator("#moment").inner_text()


def test_from_load_to_born_takes_at_most_eight_keys(open_page: Open) -> None:
    page = open_page(render_board(refund_proven()))

    pressed = 0
    while page.evaluate("document.activeElement.dataset.hop ?? ''") != "read":
        page.keyboard.press("Tab")
        pressed += 1
    page.keyboard.press("End")

    assert pressed + 1 <= 8
    assert page.locator(".hop:visible").inner_text().count('Fact("vip-override-fact")') == 1


@each_sample
def test_every_stop_of_the_tab_key_is_seen_and_has_a_name(open_page: Open, sample: Callable[[], Any]) -> None:
    page = open_page(render_board(sample()))

    stops = 0
    while stops < 60:
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        stops += 1
        stop = page.evaluate(FOCUS)
        assert stop["name"], stop
        assert stop["seen"], stop
    assert 8 <= stops < 60


FOCUS = """() => {
  const node = document.activeElement, card = node.closest(".card") ?? node, style = getComputedStyle(card);
  const labelled = document.getElementById(node.getAttribute("aria-labelledby"));
  const name = [node.ariaLabel, labelled?.innerText, node.labels?.[0]?.innerText, node.innerText].find(Boolean);
  const box = card.getBoundingClientRect();
  const inside = box.width > 0 && box.bottom > 0 && box.top < innerHeight;
  return { html: node.outerHTML.slice(0, 80), name,
           seen: inside && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 };
}"""


@each_sample
def test_nothing_makes_the_page_scroll_sideways(open_page: Open, sample: Callable[[], Any]) -> None:
    page = open_page(render_board(sample()))

    for width in (1440, 768, 390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        for tab in page.locator(".tab:visible").all():
            tab.click()
            assert page.evaluate(TOO_WIDE) == []
        for fold in page.locator("summary:visible").all():
            fold.click()
        assert page.evaluate(TOO_WIDE) == []


TOO_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("main *")]
  .filter((node) => node.getBoundingClientRect().right > innerWidth).map((node) => node.outerHTML.slice(0, 90))"""


def test_on_a_phone_buttons_are_large_enough_to_touch(open_page: Open) -> None:
    page = open_page(render_board(refund_proven()), width=390, height=844)

    for target in page.locator("button:visible, select:visible, input[type=range]:visible").all():
        box = target.bounding_box()
        assert box is not None
        assert box["height"] >= 44


CONTRAST = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, under) => top.slice(0, 3).map((c, i) => c * top[3] + under[i] * (1 - top[3]));
  const linear = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) {
      layers.push(rgba(getComputedStyle(at).backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
  };
  const low = new Set(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text; (text = walker.nextNode());) {
    const node = text.parentElement;
    if (!text.data.trim() || !node.checkVisibility()) continue;
    if (node.closest("script, option, .sr, .skip, [aria-disabled=true]")) continue;
    const ground = behind(node), ink = over(rgba(getComputedStyle(node).color), ground);
    const [bright, dim] = [light(ink), light(ground)].sort((x, y) => y - x);
    const ratio = (bright + 0.05) / (dim + 0.05);
    if (ratio < 4.5) low.add(`${ratio.toFixed(2)} ${node.tagName}.${node.className}: ${text.data.trim().slice(0, 40)}`);
  }
  return { low: [...low], dark: light(behind(document.body)) < 0.2 };
}"""


@each_sample
def test_every_text_is_readable_in_both_themes(open_page: Open, sample: Callable[[], Any]) -> None:
    page = open_page(render_board(sample()), color_scheme="light", reduced_motion="reduce")

    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 844})
        for tab in page.locator(".tab:visible").all():
            tab.click()
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                assert page.evaluate(CONTRAST) == {"low": [], "dark": scheme == "dark"}


def test_the_theme_follows_the_system_until_the_switch_says_otherwise(open_page: Open) -> None:
    page = open_page(render_board(refund()), color_scheme="dark")
    switch = page.get_by_role("button", name=re.compile("Theme"))
    dark = color(page.locator("body"), "backgroundColor")

    switch.click()

    assert switch.inner_text() == "Theme: light"
    assert color(page.locator("body"), "backgroundColor") != dark
    switch.click()
    assert switch.inner_text() == "Theme: dark"
    assert color(page.locator("body"), "backgroundColor") == dark
    switch.click()
    assert switch.inner_text() == "Theme: system"


@pytest.mark.parametrize("fragment", ["#step=call-llm%2318", "#step=call-llm#18", "#kept=1&step=call-llm%2318"])
def test_a_link_to_a_step_opens_on_it(open_page: Open, fragment: str) -> None:
    page = open_page(render_board(refund_proven()), fragment=fragment)

    assert "Model call 1" in page.locator("#moment").inner_text()
    assert "moment 7 of 19" in (page.get_by_label("Moment of the run").get_attribute("aria-valuetext") or "")
    page.get_by_label("Moment of the run").press("ArrowRight")
    page.wait_for_url(re.compile(r"step=sf-thinking%2319$"))
    assert page.evaluate("location.hash").startswith("#kept=1") is fragment.startswith("#kept")


def test_a_link_to_a_step_inside_another_opens_on_that_one_and_may_name_a_source(open_page: Open) -> None:
    page = open_page(render_board(refund_proven()), fragment="#step=context%236&of=style-fact")

    assert "System prompt composed" in page.locator("#moment").inner_text()
    assert page.get_by_role("radio", name="style-fact").is_checked()
    assert request_of(page).locator("mark").all_inner_texts() == [STYLE]


def test_a_link_to_no_step_shows_the_nearest_says_so_and_keeps_the_address(open_page: Open) -> None:
    page = open_page(render_board(refund_proven()), fragment="#step=call-llm%2341")

    said = "There is no step call-llm#41 here; this is the nearest, call-llm#40."
    assert said in page.locator("#moment").inner_text()
    assert page.locator("#live").inner_text() == said
    assert page.evaluate("location.hash") == "#step=call-llm%2341"


def test_a_changed_address_is_followed(open_page: Open) -> None:
    page = open_page(render_board(refund_proven()))

    page.evaluate("location.hash = '#step=tool-calls%2322'")

    page.locator("#moment", has_text="Tool call: lookup_order").wait_for()


def test_the_request_of_an_earlier_call_can_be_read(open_page: Open) -> None:
    page = open_page(render_board(refund_proven()), fragment="#step=call-llm%2318")

    page.get_by_role("button", name="Its request").click()

    assert ORDER not in request_of(page).inner_text()
    assert request_of(page).locator("mark").all_inner_texts() == [VIP]
    assert page.evaluate("document.activeElement.id") == "request"
    page.get_by_label("Request of").select_option("1")
    assert ORDER in request_of(page).inner_text()


def test_any_two_calls_can_be_compared(open_page: Open) -> None:
    page = open_page(render_board(refund_proven()))
    changes = page.locator("#changes-pair")
    assert changes.locator("li").count() == 2

    page.get_by_label("from", exact=True).select_option("-1")

    assert "3 · 245 ch" in changes.inner_text()
    assert changes.locator("li").count() == 7
    page.get_by_label("from", exact=True).select_option("1")
    assert "Nothing came and nothing went." in changes.inner_text()


@pytest.mark.parametrize("sample", [refund, refund_flat, refund_partial])
def test_without_re_runs_no_view_says_what_only_they_can(open_page: Open, sample: Callable[[], Any]) -> None:
    page = open_page(render_board(sample()))

    for source in page.get_by_role("radio").all():
        source.check()
        for tab in page.locator(".tab:visible").all():
            tab.click()
            seen = page.locator("html").aria_snapshot() + page.locator("html").inner_text()
            assert re.findall(r"cause|culprit|proven|confirm|without it", seen, re.IGNORECASE) == []


def test_the_verdict_its_counts_and_its_intervals_are_there_for_a_screen_reader(open_page: Open) -> None:
    page = open_page(render_board(refund_proven()))

    told = page.locator("main").aria_snapshot()

    for text in ("Proven", "Confirmed", "10 of 10 · 72\u2013100 %", "0 of 10 · 0\u201328 %", "No effect found"):
        assert text in told


def test_without_a_script_answer_sources_and_every_chain_are_readable(open_page: Open) -> None:
    page = open_page(render_board(refund_proven()), java_script_enabled=False)

    text = page.locator("main").inner_text()
    assert ANSWER in text
    assert text.count("LANDED") == 3
    assert "10 of 10" in text
    assert page.locator("#request mark").is_visible()
    assert page.locator("#theme").is_hidden()
    assert page.locator("#timeline").is_hidden()


def test_a_long_run_stays_aggregated_and_every_iteration_can_be_opened(open_page: Open) -> None:
    page = open_page(render_board(long_run(60)))
    slider = page.get_by_label("Moment of the run")
    assert int(slider.get_attribute("max") or 0) < 60
    assert page.evaluate("document.querySelectorAll('*').length") < 3_000
    assert page.locator(".dot.error").is_visible()

    slider.press("End")
    assert "Run ends" in page.locator("#moment").inner_text()
    slider.press("Home")
    slider.press("PageDown")
    slider.press("PageDown")
    assert "Iterations 2 to 5, folded" in page.locator("#moment").inner_text()
    page.get_by_role("button", name="Open iteration 2").click()
    assert "iteration 2 " in page.locator("#moment").inner_text()
    assert page.evaluate("document.activeElement.id") == "scrub"
    page.get_by_label("Go to iteration").fill("41")
    page.get_by_label("Go to iteration").press("Enter")
    assert "sf-injection-engine#821 · iteration 41" in page.locator("#moment").inner_text()


def test_a_source_in_the_middle_of_a_long_history_stands_open_between_the_folds(open_page: Open) -> None:
    page = open_page(render_board(long_run(60)))

    page.get_by_role("radio", name="lookup_order").check()

    mark = request_of(page).locator("mark")
    assert mark.all_inner_texts() == [ORDER]
    inside = "(node) => { const a = node.getBoundingClientRect(), b = node.closest('#request').getBoundingClientRect();"
    assert mark.evaluate(inside + " return a.top >= b.top && a.bottom <= b.bottom; }")
    fold = request_of(page).locator(".between").first
    assert "54 records" in fold.inner_text()
    fold.locator("summary").click()
    fold.locator(".seg").nth(53).wait_for()
    assert fold.locator(".seg").count() == 54


def test_the_timeline_can_be_pointed_at(open_page: Open) -> None:
    page = open_page(render_board(refund_proven()))
    box = page.locator(".lane .cols").first.bounding_box()
    assert box is not None

    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    assert "Run starts" in page.locator("#moment").inner_text()
    page.mouse.move(box["x"] + box["width"] - 5, box["y"] + 40, steps=4)
    page.mouse.up()

    assert "Run ends" in page.locator("#moment").inner_text()


def test_hostile_text_is_shown_and_does_nothing(open_page: Open) -> None:
    page = open_page(render_board(hostile()), fragment="#step=context%236")

    assert page.evaluate("window.hacked") is None
    assert page.locator("img, iframe").count() == 0
    assert "</script><script>window.hacked = 1</script>" in page.locator("#moment").inner_text()
    assert "U+202E" in request_of(page).inner_text()
    page.get_by_role("radio").nth(1).check()
    page.get_by_role("radio").nth(0).check()
    mark = request_of(page).locator("mark").first.inner_text()
    assert mark.startswith("</script>")
    assert mark.endswith("🦊 end")


def test_motion_is_left_out_for_those_who_ask(open_page: Open) -> None:
    still = open_page(render_board(refund()), reduced_motion="reduce")
    moving = open_page(render_board(refund()), reduced_motion="no-preference")

    assert color(still.locator(".playhead i"), "transitionDuration") == "0s"
    assert color(moving.locator(".playhead i"), "transitionDuration") != "0s"


def test_printed_every_link_stands_on_white(open_page: Open) -> None:
    page = open_page(render_board(refund_proven()), color_scheme="dark")

    page.emulate_media(media="print", color_scheme="dark")

    assert page.locator(".hop").all_inner_texts().count("") == 0
    assert all(hop.is_visible() for hop in page.locator(".hop").all())
    assert page.locator("#theme").is_hidden()
    assert color(page.locator("body"), "backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate(CONTRAST)["low"] == []
