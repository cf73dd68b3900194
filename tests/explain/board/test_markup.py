"""Tests of agentfootprint.explain.board.markup."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.explain.board.markup import clipped, code, el, esc, marked


class Read(HTMLParser):
    """What a browser would show: texts, tags, and the text inside marks."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.tags: list[str] = []
        self.mark = ""
        self._in_mark = False
        self._skipped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._in_mark = tag == "mark" or self._in_mark
        self._skipped += tag == "summary"

    def handle_endtag(self, tag: str) -> None:
        self._in_mark = tag != "mark" and self._in_mark
        self._skipped -= tag == "summary"

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.text += data
            self.mark += data if self._in_mark else ""


def read(markup: str) -> Read:
    reader = Read()
    reader.feed(markup)
    reader.close()
    return reader


PLAIN = st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"], include_characters="\n<>&\"'"))


@given(PLAIN)
def test_any_text_reads_back_as_itself_and_makes_no_element(text: str) -> None:
    page = read(esc(text))

    assert page.text == text
    assert page.tags == []


def test_characters_that_would_stay_unseen_are_shown_by_their_number() -> None:
    page = read(esc("a\u202eb\u200bc\x1bd\x00e\ufefff"))

    assert page.text == "aU+202EbU+200BcU+001BdU+0000eU+FEFFf"


def test_line_ends_of_every_kind_stay_and_joiners_of_scripts_are_not_touched() -> None:
    assert esc("a\r\nb\tc\u200d") == "a\r\nb\tc\u200d"
    assert read(esc("a\rb")).text == "aU+000Db"


def test_children_are_escaped_unless_they_are_markup_and_attributes_always() -> None:
    made = el("p", "<i>", code("<b>"), None, title='"><script>', hidden=True, lang=None)

    assert made == '<p title="&quot;&gt;&lt;script&gt;" hidden>&lt;i&gt;<code>&lt;b&gt;</code></p>'


@given(PLAIN, PLAIN, PLAIN)
def test_the_marked_part_is_marked_and_the_text_stays_whole(before: str, part: str, after: str) -> None:
    text = before + part + after

    page = read(marked(text, len(before), len(before) + len(part)))

    assert page.text == text
    assert page.mark == part


def test_a_long_text_is_folded_around_its_marked_part_and_nothing_is_lost() -> None:
    lines = [f"line {number} of the recorded result\n" for number in range(400)]
    text = "".join(lines)
    start = text.index("line 250 ")

    markup = marked(text, start, start + len(lines[250]))

    page = read(markup)
    assert page.text == text
    assert page.mark == lines[250]
    assert page.tags.count("details") == 2
    assert f"{text[: start - 200].count(chr(10)) - 12 + 1} lines" in markup


def test_a_cut_text_says_how_much_there_is_more() -> None:
    assert clipped("x" * 450) == "x" * 450
    assert read(clipped("x" * 1_400)).text == "x" * 400 + " … 1,000 characters more"
