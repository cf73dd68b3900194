"""What can be wrong with prices.

Invariants: a message names the table, the model and the kind of token, and nothing of a run.
"""

from __future__ import annotations

from agentfootprint.errors import AgentFootprintError

__all__ = ["InvalidPriceError", "UnknownPriceError"]


class UnknownPriceError(AgentFootprintError, LookupError):
    """A pricing table does not know what a model's tokens cost, and an unknown price is never 0 (08b:CST-1).

    Args:
        table: The table's name.
        model: The model asked for.
        kind: The kind of token.
    """

    code = "ERR_UNKNOWN_PRICE"

    def __init__(self, table: str, model: str, kind: str) -> None:
        self.table = table
        self.model = model
        self.kind = kind
        super().__init__(
            f"The pricing table {table!r} has no price of {kind!r} tokens for the model {model!r}.",
            fix=f'Add it, in US dollars for one token: {{{model!r}: {{{kind!r}: ...}}}}; or use unknown="unpriced".',
        )


class InvalidPriceError(AgentFootprintError, ValueError):
    """A pricing table answered with something that is no price.

    Args:
        table: The table's name.
        model: The model asked for.
        kind: The kind of token.
        answer: What it answered.
    """

    code = "ERR_INVALID_PRICE"

    def __init__(self, table: str, model: str, kind: str, answer: object) -> None:
        self.table = table
        self.model = model
        self.kind = kind
        super().__init__(
            f"The pricing table {table!r} answered {answer!r} for {kind!r} tokens of the model {model!r}.",
            fix="Answer US dollars for one token, 0 or more; raise LookupError where there is no price.",
        )
