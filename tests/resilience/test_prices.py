"""Tests of agentfootprint.resilience.prices."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.errors import ConfigError
from agentfootprint.llm import Usage
from agentfootprint.resilience import (
    InvalidPriceError,
    PriceKind,
    PricingTable,
    StaticPricing,
    UnknownPriceError,
    check_priced,
    cost_of,
)

KINDS: tuple[PriceKind, ...] = ("input", "output", "cacheRead", "cacheWrite", "thinking")
DEAR = {"input": 1.0, "output": 10.0, "cacheRead": 100.0, "cacheWrite": 1_000.0}  # each kind in a decimal of its own
NAMES = st.text(min_size=1).filter(lambda name: bool(name.strip()))
PRICES = st.floats(min_value=0, max_value=1, allow_nan=False)
TABLES = st.dictionaries(NAMES, st.dictionaries(st.sampled_from(KINDS), PRICES, min_size=1))


def cost(usage: Usage, **more: float) -> float | None:
    return cost_of(usage, model="m", pricing=StaticPricing({"m": {**DEAR, **more}}))


class Answering:
    """A table of somebody's own that has one answer."""

    name = "mine"

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def price_per_token(self, model: str, kind: PriceKind) -> float:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def test_cached_tokens_are_paid_once_whether_or_not_they_stand_in_the_input() -> None:
    apart = Usage(input=3, output=2, cache_read=4, cache_write=5)
    inside = Usage(input=12, output=2, cache_read=4, cache_write=5).containing(cache=True)

    assert cost(apart) == cost(inside) == 5_423.0


def test_thinking_is_paid_as_output_and_not_again_where_it_stands_there() -> None:
    assert cost(Usage(input=0, output=2, thinking=3)) == 50.0
    assert cost(Usage(input=0, output=5, thinking=3).containing(thinking=True)) == 50.0


def test_thinking_has_a_price_of_its_own_where_the_table_says_so() -> None:
    assert cost(Usage(input=0, output=2, thinking=3), thinking=10_000.0) == 30_020.0
    assert cost(Usage(input=0, output=5, thinking=3).containing(thinking=True), thinking=10_000.0) == 30_020.0


def test_a_vendor_that_counts_more_cached_tokens_than_it_was_given_pays_nobody_back() -> None:
    assert cost(Usage(input=1, output=0, cache_read=4).containing(cache=True)) == 400.0
    assert cost(Usage(input=0, output=1, thinking=4).containing(thinking=True), thinking=0.0) == 0.0


def test_a_call_whose_usage_is_unknown_has_no_cost() -> None:
    assert cost(Usage(known=False)) is None
    assert cost(Usage(known=False, input=5)) is None


@pytest.mark.parametrize("unknown", ["refuse", "unpriced"])
@pytest.mark.parametrize("usage", [Usage(input=1), Usage(output=1), Usage(input=1, output=1)])
def test_a_call_of_an_unlisted_model_has_no_cost_and_no_error(unknown: Any, usage: Usage) -> None:
    table = StaticPricing({"M": {"input": 1, "output": 1}, "m-2": {"input": 1, "output": 1}}, unknown=unknown)

    assert cost_of(usage, model="m", pricing=table) is None


def test_a_call_with_one_kind_that_is_not_priced_has_no_cost() -> None:
    table = StaticPricing({"m": {"input": 1, "output": 1}})

    assert cost_of(Usage(input=1, output=1), model="m", pricing=table) == 2.0
    assert cost_of(Usage(input=1, output=1, cache_read=0, cache_write=0), model="m", pricing=table) == 2.0
    assert cost_of(Usage(input=1, output=1, cache_read=1), model="m", pricing=table) is None
    assert cost_of(Usage(input=1, output=1, cache_write=1), model="m", pricing=table) is None


def test_a_price_of_nothing_is_known() -> None:
    table = StaticPricing({"local": {"input": 0, "output": 0}})

    assert cost_of(Usage(input=100, output=100), model="local", pricing=table) == 0.0


def test_an_unlisted_model_is_refused_before_a_run_or_knowingly_not_priced() -> None:
    listed: dict[str, dict[str, float]] = {"m": {"input": 1, "output": 1}, "half": {"input": 1}}

    check_priced(StaticPricing(listed), ["m"])
    check_priced(StaticPricing(listed, unknown="unpriced"), ["m", "half", "other"])

    assert math.isnan(StaticPricing(listed, unknown="unpriced").price_per_token("other", "input"))
    for model, kind in (("other", "input"), ("half", "output")):
        with pytest.raises(UnknownPriceError, match=model) as refused:
            check_priced(StaticPricing(listed), ["m", model])
        assert (refused.value.model, refused.value.kind, refused.value.table) == (model, kind, "static")


@pytest.mark.parametrize("answer", [-1.0, math.inf, "1", None, True, 1j])
def test_an_answer_that_is_no_price_is_an_error(answer: Any) -> None:
    with pytest.raises(InvalidPriceError, match="'mine'"):
        cost_of(Usage(input=1, output=1), model="m", pricing=Answering(answer))
    with pytest.raises(InvalidPriceError):
        check_priced(Answering(answer), ["m"])


def test_a_table_of_ones_own_may_be_a_plain_look_up() -> None:
    table = Answering(KeyError("m"))

    assert isinstance(table, PricingTable)
    assert cost_of(Usage(input=1), model="m", pricing=table) is None
    with pytest.raises(UnknownPriceError) as refused:
        check_priced(table, ["m"])
    assert isinstance(refused.value.__cause__, KeyError)


def test_an_error_of_a_table_of_ones_own_stays_what_it_is() -> None:
    with pytest.raises(OSError, match="down"):
        cost_of(Usage(input=1), model="m", pricing=Answering(OSError("down")))


@given(TABLES)
def test_each_model_has_its_own_prices_and_no_other_spelling_has_them(
    given_prices: dict[str, dict[str, float]],
) -> None:
    table = StaticPricing(given_prices, unknown="unpriced")

    for model, kinds in given_prices.items():
        for kind in KINDS:
            price = table.price_per_token(model, kind)
            assert price == kinds[kind] if kind in kinds else math.isnan(price)
        for other in {model + " ", model.swapcase(), f"x{model}"} - set(given_prices):
            assert math.isnan(table.price_per_token(other, "input"))


def test_prices_do_not_change_with_the_mapping_they_came_from() -> None:
    mine = {"m": {"input": 1.0, "output": 1.0}}
    table = StaticPricing(mine)

    mine["m"]["input"] = 0.0
    mine["n"] = {"input": 0.0}

    assert table.price_per_token("m", "input") == 1.0
    assert table == StaticPricing({"m": {"input": 1.0, "output": 1.0}}) == pickle.loads(pickle.dumps(table))
    with pytest.raises(UnknownPriceError):
        table.price_per_token("n", "input")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("prices.json", "The prices are a str"),
        (None, "The prices are a NoneType"),
        ({"": {"input": 1}}, "name a model ''"),
        ({7: {"input": 1}}, "name a model 7"),
        ({"m": {}}, "'m' has no prices"),
        ({"m": 1}, "'m' has no prices"),
        ({"m": {"in": 1}}, "a price of 'in' tokens"),
        ({"m": {"input": "1"}}, "'input' tokens of the model 'm' is '1'"),
        ({"m": {"input": -1}}, "is -1"),
        ({"m": {"input": True}}, "is True"),
        ({"m": {"input": math.nan}}, "is nan"),
        ({"m": {"input": math.inf}}, "is inf"),
    ],
)
def test_what_is_no_table_of_prices_is_refused(given: Any, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        StaticPricing(given)

    assert said in refused.value.problem
    assert refused.value.option == "limits.pricing"


def test_an_unknown_word_for_unknown_models_is_refused() -> None:
    word: Any = "free"

    with pytest.raises(ConfigError, match=r'Use "refuse" or "unpriced"'):
        StaticPricing({}, unknown=word)


def test_prices_are_read_from_a_file(tmp_path: Path) -> None:
    table = {"gpt-4.1": {"input": 2e-6, "output": 8e-6}}
    (tmp_path / "prices.json").write_text(json.dumps(table), encoding="utf-8")
    (tmp_path / "prices.toml").write_text('["gpt-4.1"]\ninput = 2e-6\noutput = 8e-6\n', encoding="utf-8")

    for name in ("prices.json", "prices.toml"):
        read = StaticPricing(tmp_path / name)
        assert (read.name, read.price_per_token("gpt-4.1", "output")) == (name, 8e-6)
        assert read.prices == table


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("prices.yaml", "m: 1", "is no .json or .toml"),
        ("prices.json", '{"m": {"input": 1}, "m": {"input": 2}}', "'m' stands there twice"),
        ("prices.json", '{"m": {"input": 1, "input": 2}}', "'input' stands there twice"),
        ("prices.json", "{", "can't be read"),
        ("prices.json", "[" * 100_000, "can't be read"),
        ("prices.json", "[]", "The prices are a list"),
        ("prices.json", '{"m": {"input": NaN}}', "is nan"),
        ("prices.toml", "m = [", "can't be read"),
        ("prices.toml", "[gpt-4.1]\ninput = 2e-6\n", "'1' tokens"),
        ("missing.json", None, "can't be read"),
    ],
)
def test_a_file_that_holds_no_prices_is_refused(tmp_path: Path, name: str, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")

    with pytest.raises(ConfigError) as refused:
        StaticPricing(tmp_path / name)

    assert said in refused.value.problem
    assert ('["gpt-4.1"]' in refused.value.fix) is ("4.1" in (text or ""))
    assert str(tmp_path) not in str(refused.value)
