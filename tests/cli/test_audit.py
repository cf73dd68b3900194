"""Tests of agentfootprint.cli.audit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from agentfootprint.explain import forbidden_words
from agentfootprint.observe import AuditExporter
from tests.cli.commands import afp, widest
from tests.observe.audit.chains import events, filled

FILE = "run.audit.jsonl"


@pytest.fixture
def anchors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The current directory has a chain of two segments of 11 records; these are their anchors."""
    monkeypatch.chdir(tmp_path)
    anchors: list[str] = []
    audit = AuditExporter(anchor=anchors.append)
    for run in ("run-1-1", "run-1-2"):
        for each in events(10, run=run):
            audit.export(each)
        audit.save(FILE)
    return anchors


def edit(old: str, new: str) -> None:
    data = Path(FILE).read_text(encoding="utf-8")
    assert old in data
    Path("edited.jsonl").write_text(data.replace(old, new, 1), encoding="utf-8")


@pytest.mark.usefixtures("anchors")
def test_a_whole_chain() -> None:
    ran = afp("audit", "verify", FILE)

    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "VALID   22 records (0-21), 2 runs, 2 segments, not signed\n"
        "        Shows edits; not a cut-off end (--anchor) or who wrote it (--key).\n"
    )
    assert forbidden_words(ran.out) == []


@pytest.mark.usefixtures("anchors")
def test_a_broken_chain_names_the_record() -> None:
    edit('"items":6', '"items":7')

    ran = afp("audit", "verify", "edited.jsonl")

    assert (ran.code, ran.err) == (1, "")
    assert ran.out == (
        "BROKEN  record 7: its content does not match its hash\n"
        "        0-6 are intact. From 7 on, nothing is established.\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"seq":0', '"seq":9', "record 0: its seq is 9, not 0\n        Nothing is established."),
        ("audit/1", "audit/9", "header of segment 0: its format is 'agentfootprint.audit/9'"),
        ('"exportedAt":1', '"exportedAt":2', "header of segment 0: its header is not the one it was closed with"),
        ('{"finalHash":"', '{"finalHash":"0', "end of segment 0: its finalHash is not the hash of its last record"),
        (
            '"firstSeq":11',
            '"firstSeq":12',
            "header of segment 1: its firstSeq is 12, after 10\n        0-10 are intact.",
        ),
    ],
)
@pytest.mark.usefixtures("anchors")
def test_what_is_broken_is_said(old: str, new: str, said: str) -> None:
    edit(old, new)

    ran = afp("audit", "verify", "edited.jsonl")

    assert ran.code == 1
    assert said in ran.out
    assert widest(ran.out) <= 80


def test_an_anchor_covers_the_chain_up_to_its_record(anchors: list[str]) -> None:
    whole = afp("audit", "verify", FILE, "--anchor", anchors[1], "--anchor", anchors[0])
    part = afp("audit", "verify", FILE, "--anchor", anchors[0])

    assert (whole.code, part.code) == (0, 0)
    assert "As anchored, up to record 21: nothing was cut off or made anew." in whole.out
    assert "As anchored, up to record 10. Can't show whether records after 21" in part.out


def test_a_cut_end_is_found_with_an_anchor_only(anchors: list[str]) -> None:
    lines = Path(FILE).read_bytes().splitlines(keepends=True)
    Path("cut.jsonl").write_bytes(b"".join(lines[:13]))

    assert afp("audit", "verify", "cut.jsonl").code == 0
    ran = afp("audit", "verify", "cut.jsonl", "--anchor", anchors[1])

    assert ran.code == 1
    assert f"BROKEN  anchor: the hash {anchors[1][:12]}... is not in it" in ran.out
    assert "0-10 follow each other, but the end was cut off" in ran.out


@pytest.mark.usefixtures("anchors")
def test_several_files_are_one_chain_in_order() -> None:
    lines = Path(FILE).read_bytes().splitlines(keepends=True)
    Path("one.jsonl").write_bytes(b"".join(lines[:13]))
    Path("two.jsonl").write_bytes(b"".join(lines[13:]))

    assert "22 records (0-21)" in afp("audit", "verify", "one.jsonl", "two.jsonl").out
    assert "Begins at record 11: what came before was not given." in afp("audit", "verify", "two.jsonl").out
    wrong = afp("audit", "verify", "two.jsonl", "one.jsonl")
    assert wrong.code == 1
    assert "header of segment 1" in wrong.out


@pytest.mark.usefixtures("anchors")
def test_json_is_the_verdict() -> None:
    edit('"items":6', '"items":7')

    whole, broken = afp("audit", "verify", FILE, "--json"), afp("audit", "verify", "edited.jsonl", "--json")

    assert (whole.code, whole.json["valid"], whole.json["recordsChecked"], whole.json["files"]) == (0, True, 22, [FILE])
    assert (broken.code, broken.json["brokenAt"], broken.json["check"]) == (1, 7, "hash")
    assert broken.json["format"] == "agentfootprint.audit-verification/1"


@pytest.mark.usefixtures("anchors")
def test_the_short_form_is_one_line() -> None:
    edit('"items":6', '"items":7')

    assert afp("audit", "verify", FILE, "-q").out == "VALID 22 records (0-21)\n"
    assert afp("audit", "verify", "edited.jsonl", "-q").out == "BROKEN record 7\n"
    assert (afp("audit", "verify", "edited.jsonl", "-qq").code, afp("audit", "verify", FILE, "-qq").out) == (1, "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["audit", "verify", "nothing.jsonl"], "'nothing.jsonl' can't be read: no such file or directory."),
        (["audit", "verify", "."], "'.' can't be read: is a directory."),
        (["audit", "verify", "notes.txt"], "'notes.txt' can't be verified: it holds no audit records."),
        (["audit", "verify"], "No file is named."),
        (["audit", FILE], f"Did you mean: agentfootprint audit verify {FILE}?"),
        (["audit", "verify", FILE, "--anchor", "9f2c"], "--anchor is no hash."),
    ],
)
@pytest.mark.usefixtures("anchors")
def test_what_cannot_be_asked(words: list[str], said: str) -> None:
    Path("notes.txt").write_text("Buy milk.\n", encoding="utf-8")

    ran = afp(*words)

    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


@pytest.mark.usefixtures("anchors")
def test_what_stands_in_a_file_cannot_steer_the_terminal() -> None:
    edit('"format":"agentfootprint.audit/1"', '"format":"\\u001b[2J\\u202e"')

    ran = afp("audit", "verify", "edited.jsonl")

    assert ran.code == 1
    assert ran.out.isascii()
    assert ran.out.replace("\n", "").isprintable()


@pytest.fixture
def public(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The current directory has a signed chain and the public key of its writer, which is returned as hex."""
    monkeypatch.chdir(tmp_path)
    key = Ed25519PrivateKey.generate()
    filled(3, signing_key=key).save(FILE)
    pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    Path("public.pem").write_bytes(pem)
    return key.public_key().public_bytes_raw().hex()


def test_a_signed_chain_says_by_whom_as_far_as_it_is_known(public: str) -> None:
    ran = afp("audit", "verify", FILE)
    by_file, by_text = (
        afp("audit", "verify", FILE, "--key", "public.pem"),
        afp("audit", "verify", FILE, "--key", public),
    )

    assert (ran.code, by_file.code, by_text.code) == (0, 0, 0)
    assert "signed, by a key that it names itself" in ran.out
    assert by_file.out == by_text.out
    assert by_file.out.splitlines()[0].endswith("1 segment, signed with the key given")
    assert "who wrote it" not in by_file.out
    document = json.loads(afp("audit", "verify", FILE, "--key", public, "--json").out)
    assert (document["signed"], document["signature"]) == (True, "by-key")


@pytest.mark.usefixtures("public")
def test_a_chain_of_somebody_else_fails_and_a_chain_that_is_not_signed_too() -> None:
    filled(3).save("plain.jsonl")

    other = afp("audit", "verify", FILE, "--key", "00" * 32)
    plain = afp("audit", "verify", "plain.jsonl", "--key", "public.pem")

    assert (other.code, plain.code) == (1, 1)
    assert "not with the one given" in other.out.replace("\n        ", " ")
    assert "it is not signed" in plain.out
    assert json.loads(afp("audit", "verify", FILE, "--key", "00" * 32, "--json").out)["signed"] is False


@pytest.mark.usefixtures("public")
def test_a_key_that_is_none_can_not_be_asked_with() -> None:
    for given in ("nothing.pem", "marker", FILE):
        ran = afp("audit", "verify", FILE, "--key", given)

        assert (ran.code, ran.out) == (2, "")
        assert "--key" in ran.err
