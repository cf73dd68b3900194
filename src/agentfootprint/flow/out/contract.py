"""What must go into a chart, and what comes out of it (19)?

A contract is data beside the chart: it changes no stage, and mounts and agents run as if it were not there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentfootprint.flow.errors import InputValidationError, OutputValidationError
from agentfootprint.flow.out.schema import NotFitting, Schema, schema_of
from agentfootprint.trace import FrozenDict, thaw

__all__ = ["Contract"]


class Contract:
    """The schemas of a chart.

    Args:
        chart: Name of the chart, for messages.
        input: Schema of a run's input; None when anything goes.
        output: Schema of what a run comes to.
        mapper: Makes what a run comes to of its final state; the value of the last stage by default.
        validate_output: Whether a run that came to something else fails.

    Raises:
        ChartBuildError: A schema is none.
        MissingExtraError: A JSON Schema was given, and the package that reads those is not installed.
    """

    __slots__ = ("chart", "input", "mapper", "output", "validate_output")

    def __init__(
        self,
        chart: str,
        *,
        input: Any = None,  # noqa: ANN401  any kind of schema
        output: Any = None,  # noqa: ANN401  any kind of schema
        mapper: Callable[[FrozenDict], Any] | None = None,
        validate_output: bool = False,
    ) -> None:
        self.chart = chart
        self.input: Schema | None = None if input is None else schema_of(input, f"input schema of chart {chart!r}")
        self.output: Schema | None = None if output is None else schema_of(output, f"output schema of chart {chart!r}")
        self.mapper = mapper
        self.validate_output = validate_output

    def accepted(self, given: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """A run's input as the schema leaves it; a run without input gives the empty object.

        Raises:
            InputValidationError: It breaks the schema (FLOW-CON-1).
        """
        if self.input is None:
            return given
        try:
            return self.input.accepted({} if given is None else given)
        except NotFitting as refused:
            raise InputValidationError(
                f"Input validation failed: {refused.words()}",
                fix=f"Give the run an input that fits the contract of chart {self.chart!r}.",
                issues=refused.issues,
            ) from refused.__cause__

    def output_of(self, value: Any, state: FrozenDict) -> Any:  # noqa: ANN401  what a stage returned
        """What a finished run comes to.

        Args:
            value: What its last stage returned.
            state: Its final state.

        Raises:
            OutputValidationError: It breaks the schema, and `validate_output` holds.
        """
        made = value if self.mapper is None else self.mapper(state)
        if self.output is None or not self.validate_output:
            return made
        try:
            return self.output.accepted(thaw(made))
        except NotFitting as refused:
            raise OutputValidationError(
                f"Output validation failed: {refused.words()}",
                fix=f"Make the last stage, or the mapper, fit the contract of chart {self.chart!r}.",
                issues=refused.issues,
            ) from refused.__cause__
