"""What does a model call cost, and is that known at all?

Invariants: a price is US dollars for ONE token; a model's name means itself alone, no other spelling of it; a price
that is not known is never taken for 0, and makes the call unpriced (08b:CST-1); every token is priced once, whatever
the vendor's own numbers contain (DEC-42). No prices are shipped: they change, and differ by contract.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeAlias, cast, get_args, runtime_checkable

from agentfootprint.errors import ConfigError
from agentfootprint.llm import Usage
from agentfootprint.resilience.errors import InvalidPriceError, UnknownPriceError
from agentfootprint.trace import freeze

__all__ = ["PriceKind", "PricingTable", "StaticPricing", "check_priced", "cost_of"]

PriceKind: TypeAlias = Literal["input", "output", "cacheRead", "cacheWrite", "thinking"]
"""What a token is paid as. Without a price of its own, `thinking` is paid as `output`."""

_KINDS: Final = get_args(PriceKind)
_OPTION: Final = "limits.pricing"


@runtime_checkable
class PricingTable(Protocol):
    """What tokens cost. Several runs may ask it at once."""

    @property
    def name(self) -> str:
        """Stands in errors."""
        ...

    def price_per_token(self, model: str, kind: PriceKind) -> float:
        """US dollars for one token; NaN says that the model is knowingly not priced.

        Raises:
            LookupError: It has no such price. Before a run this refuses the model; `thinking` is then paid as `output`.
        """
        ...


@dataclass(frozen=True, slots=True)
class StaticPricing:
    """Prices that are written down.

    Args:
        prices: US dollars for one token, by model and kind (`input`, `output`, `cacheRead`, `cacheWrite`, `thinking`);
            or a `.json` or `.toml` file that holds them. Vendors state prices for a million tokens: divide.
        unknown: What becomes of a model that is not listed: `"refuse"` refuses the run before anything is spent,
            `"unpriced"` lets it run, with costs that are not known.

    Raises:
        ConfigError: A price can't be one, a kind is misspelt, or the file can't be read.

    Example:
        >>> prices = StaticPricing({"small": {"input": 0.15e-6, "output": 0.6e-6}})
        >>> prices.price_per_token("small", "input")
        1.5e-07
    """

    prices: Mapping[str, Mapping[str, float]] | Path
    _: KW_ONLY
    unknown: Literal["refuse", "unpriced"] = "refuse"
    name: str = field(init=False, default="static")
    """`static`, or the name of the file."""

    def __post_init__(self) -> None:
        if self.unknown not in ("refuse", "unpriced"):
            raise ConfigError(
                _OPTION, f"StaticPricing has unknown={self.unknown!r}.", fix='Use "refuse" or "unpriced".'
            )
        given: object = self.prices
        if isinstance(given, Path):
            object.__setattr__(self, "name", given.name)
            given = _read(given)
        object.__setattr__(self, "prices", freeze(_checked(given)))

    def price_per_token(self, model: str, kind: PriceKind) -> float:
        """US dollars for one token; NaN where there is no price and `unknown` is `"unpriced"`.

        Raises:
            UnknownPriceError: There is no such price, and `unknown` is `"refuse"`.
        """
        price = cast("Mapping[str, Mapping[str, float]]", self.prices).get(model, {}).get(kind)
        if price is not None:
            return price
        if self.unknown == "refuse":
            raise UnknownPriceError(self.name, model, kind)
        return math.nan


def check_priced(table: PricingTable, models: Iterable[str]) -> None:
    """Refuse models that a table has no price for, before anything is spent.

    Args:
        table: The prices.
        models: The models that will be asked.

    Raises:
        UnknownPriceError: A model has no price of its input or its output.
        InvalidPriceError: The table's answer is no price.
    """
    for model in models:
        _price(table, model, "input")
        _price(table, model, "output")


def cost_of(usage: Usage, *, model: str, pricing: PricingTable) -> float | None:
    """US dollars for one call; `None` where that is not known: no usage, or tokens without a price.

    The call was made, so what the table does not know is no error here: `check_priced` refuses before.

    Args:
        usage: What the call took.
        model: The model that answered.
        pricing: The prices.

    Raises:
        InvalidPriceError: The table's answer is no price.

    Example:
        >>> prices = StaticPricing({"m": {"input": 0.01, "output": 0.02, "cacheRead": 0.001}})
        >>> cost_of(Usage(input=10, output=5, cache_read=100), model="m", pricing=prices)
        0.30000000000000004
        >>> cost_of(Usage(input=110, output=5, cache_read=100).containing(cache=True), model="m", pricing=prices)
        0.30000000000000004
        >>> cost_of(Usage(input=10, output=5, cache_write=8), model="m", pricing=prices) is None
        True
    """
    if not usage.known:
        return None
    read, written = _count(usage.cache_read), _count(usage.cache_write)
    fresh, said, thought = _count(usage.input), _count(usage.output), _count(usage.thinking)
    if usage.input_includes_cache:
        fresh = max(0, fresh - read - written)
    thinking_price = _known_price(pricing, model, "thinking") if thought else None
    if thinking_price is None:  # paid as output, where it is not in there already
        said += 0 if usage.output_includes_thinking else thought
        thought = 0
    elif usage.output_includes_thinking:
        said = max(0, said - thought)
    paid: list[tuple[int, PriceKind]] = [(fresh, "input"), (said, "output")]
    if read:
        paid.append((read, "cacheRead"))
    if written:
        paid.append((written, "cacheWrite"))
    total = 0.0
    for count, kind in paid:
        price = _known_price(pricing, model, kind)
        if price is None:
            return None
        total += count * price
    return total if thinking_price is None else total + thought * thinking_price


def _count(tokens: int | None) -> int:
    return max(0, tokens or 0)


def _known_price(table: PricingTable, model: str, kind: PriceKind) -> float | None:
    try:
        price = _price(table, model, kind)
    except UnknownPriceError:
        return None
    return None if math.isnan(price) else price


def _price(table: PricingTable, model: str, kind: PriceKind) -> float:
    """The table's answer, checked; NaN where it says that there is none."""
    try:
        price: object = table.price_per_token(model, kind)
    except UnknownPriceError:
        raise
    except LookupError as missing:
        raise UnknownPriceError(table.name, model, kind) from missing
    if isinstance(price, float) and math.isnan(price):
        return price
    if not _is_price(price):
        raise InvalidPriceError(table.name, model, kind, price)
    return float(cast("float", price))


def _is_price(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _checked(given: object) -> dict[str, dict[str, float]]:
    """A copy of the prices; refuses what can't be one."""
    if not isinstance(given, Mapping):
        raise ConfigError(
            _OPTION,
            f"The prices are a {type(given).__name__}.",
            fix='Give a mapping, {"model": {"input": 3e-6, "output": 15e-6}}, or the Path of a file.',
        )
    table: dict[str, dict[str, float]] = {}
    for model, kinds in cast("Mapping[object, object]", given).items():
        if not isinstance(model, str) or not model.strip():
            raise ConfigError(_OPTION, f"The prices name a model {model!r}.", fix="Use the model's name, as text.")
        if not isinstance(kinds, Mapping) or not kinds:
            raise ConfigError(
                _OPTION,
                f"The model {model!r} has no prices.",
                fix=f'Give them by kind: {{{model!r}: {{"input": 3e-6, "output": 15e-6}}}}; or leave the model out.',
            )
        table[model] = _checked_kinds(model, cast("Mapping[object, object]", kinds))
    return table


def _checked_kinds(model: str, kinds: Mapping[object, object]) -> dict[str, float]:
    for kind, price in kinds.items():
        if kind not in _KINDS:
            dotted = f' A name with a dot is quoted in TOML: ["{model}.{kind}"].' if isinstance(price, Mapping) else ""
            raise ConfigError(
                _OPTION,
                f"The model {model!r} has a price of {kind!r} tokens.",
                fix=f"Use one of: {', '.join(_KINDS)}.{dotted}",
            )
        if not _is_price(price):
            raise ConfigError(
                _OPTION,
                f"The price of {kind!r} tokens of the model {model!r} is {price!r}.",
                fix="Give US dollars for one token: a finite number of 0 or more.",
            )
    return cast("dict[str, float]", dict(kinds))


def _read(path: Path) -> object:
    """The content of a file of prices."""
    readers = {".json": _from_json, ".toml": tomllib.loads}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise ConfigError(_OPTION, f"The file of prices {path.name!r} is no .json or .toml.", fix="Save it as one.")
    try:
        return reader(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError(
            _OPTION, f"The file of prices {path.name!r} can't be read: {reason}.", fix="Check its path and its rights."
        ) from error
    except (ValueError, RecursionError) as error:  # bad UTF-8, bad JSON, bad TOML, a key twice, too deep
        raise ConfigError(
            _OPTION, f"The file of prices {path.name!r} can't be read: {error}.", fix="Mend the file."
        ) from error


def _from_json(text: str) -> object:
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys stand once: of two prices for one thing, neither is taken."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for number, (key, _) in enumerate(pairs) if key in dict(pairs[:number]))
        raise ValueError(f"{twice!r} stands there twice")
    return found
