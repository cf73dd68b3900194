"""What does a built chart say of itself, to people, drawings, services and other processes?

Each answer is a new object made from the plan, so nobody can change the chart through it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from agentfootprint.flow.out.contract import Contract
from agentfootprint.flow.out.mermaid import drawn
from agentfootprint.flow.out.packing import Packed, packed, unpacked
from agentfootprint.flow.out.services import Operation, mcp_tool, openapi, pascal, slug
from agentfootprint.flow.out.spec import local_name, spec_nodes
from agentfootprint.flow.out.text import described
from agentfootprint.flow.parts import Part, PartList
from agentfootprint.flow.plan.build import assembled
from agentfootprint.flow.plan.node import Node, Plan
from agentfootprint.trace import FrozenDict, Journal

__all__ = ["BuiltChart", "FlowContract", "define_contract"]


class HasJournal(Protocol):
    """What holds the rows of a run: a result, a run."""

    @property
    def journal(self) -> Journal:
        """The rows."""
        ...


class BuiltChart(Plan):
    """A built chart that can be told, drawn, offered and pickled. Nothing changes it.

    Args:
        name: Of the chart.
        root: Its first node.
        nodes: All nodes by number.
        source: What it was built from.
        contract: What goes in and comes out.
    """

    __slots__ = ("_description", "_source", "_tool", "contract")

    def __init__(
        self,
        name: str,
        root: Node,
        nodes: tuple[Node, ...],
        source: PartList | None = None,
        contract: Contract | None = None,
    ) -> None:
        super().__init__(name, root, nodes)
        self._source = source
        self.contract = contract
        """What must go in, and what comes out; None when nothing was said (FLOW-CON-1)."""
        self._description: str | None = None
        self._tool: bytes | None = None

    @property
    def source(self) -> PartList:
        """What it was built from: give it to a `Subflow` to mount the same chart in another."""
        assert self._source is not None  # noqa: S101  only charts that grow in a run are built from less
        return self._source

    @property
    def parts(self) -> tuple[Part | None, ...]:
        """What each node was made from, by number."""
        return tuple(node.part for node in self.nodes)

    @property
    def description(self) -> str:
        """What the chart does, in numbered lines (FLOW-BLD-25)."""
        if self._description is None:
            self._description = described(self.stages, self.parts)
        return self._description

    def to_spec(self) -> dict[str, Any]:
        """The structure as JSON: nodes that hold their children and what follows them (FLOW-SPC-1).

        It is as deep as the chart is long: write a chain of many hundred stages with an encoder that does not recurse.
        """
        return spec_nodes(self.stages, self.parts)[0]

    def to_mermaid(self, *, executed: Journal | HasJournal | None = None) -> str:
        """The chart as a Mermaid drawing (FLOW-SPC-2).

        Args:
            executed: A run of it, or its result: what ran is highlighted, and loops say how often they were taken.
        """
        journal = executed if executed is None or isinstance(executed, Journal) else executed.journal
        return drawn(self.stages, journal)

    def to_openapi(
        self,
        *,
        title: str | None = None,
        version: str = "1.0.0",
        description: str | None = None,
        path: str | None = None,
    ) -> dict[str, Any]:
        """The OpenAPI 3.1 description of a service that runs the chart (FLOW-CON-3).

        Args:
            title: First line of the description by default.
            version: Of the service.
            description: The chart's by default.
            path: The id of the first stage by default.
        """
        said = self.description if description is None else description
        shown = said.partition("\n")[0] if title is None else title
        where = f"/{slug(self.root.info.local_id)}" if path is None else path
        contract = self.contract
        return openapi(
            Operation(where, summary=shown, description=said),
            title=shown,
            version=version,
            description=said,
            input=None if contract is None else contract.input,
            output=None if contract is None else contract.output,
        )

    def to_mcp_tool(self, *, name: str | None = None, description: str | None = None) -> dict[str, Any]:
        """The chart as a tool of the Model Context Protocol (FLOW-CON-4); made once, given as a new object each time.

        Args:
            name: The id of the first stage by default; other characters than letters, digits, `_.-` become `_`.
            description: The chart's by default.
        """
        schema = None if self.contract is None else self.contract.input
        if name is not None or description is not None:
            own = self.root.info.local_id if name is None else name
            return mcp_tool(own, self.description if description is None else description, schema)
        if self._tool is None:
            self._tool = msgspec.json.encode(mcp_tool(self.root.info.local_id, self.description, schema))
        return msgspec.json.decode(self._tool)

    def accepted(self, given: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """A run's input as the contract leaves it.

        Raises:
            InputValidationError: It breaks the contract.
        """
        return given if self.contract is None else self.contract.accepted(given)

    def output_of(self, value: Any, state: FrozenDict) -> Any:  # noqa: ANN401  what the last stage returned
        """What a finished run comes to.

        Raises:
            OutputValidationError: It breaks the contract, which says that this is looked at.
        """
        return value if self.contract is None else self.contract.output_of(value, state)

    def __copy__(self) -> BuiltChart:
        return self

    def __deepcopy__(self, memo: object) -> BuiltChart:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self._source is None:
            raise TypeError(f"The chart {self.name!r} does not know what it was built from, so it can't be pickled.")
        return _revived, (type(self), packed(self._source), self.contract)


def _revived(kind: type[BuiltChart], given: Packed, contract: Contract | None) -> BuiltChart:
    source = unpacked(given)
    return kind(source.name, *assembled(source), source, contract)


class FlowContract:
    """A chart under a contract of your own; the chart itself stays as it is (FLOW-CON-5). Made by `define_contract`."""

    def __init__(self, chart: BuiltChart, contract: Contract) -> None:
        self.chart = chart
        self.contract = contract

    @property
    def input_schema(self) -> dict[str, Any] | None:
        """The input's JSON Schema; None when anything goes."""
        return None if self.contract.input is None else self.contract.input.json_schema()

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """The output's JSON Schema."""
        return None if self.contract.output is None else self.contract.output.json_schema()

    def accepted(self, given: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """An input as the contract leaves it.

        Raises:
            InputValidationError: It breaks the contract.
        """
        return self.contract.accepted(given)

    def output_of(self, value: Any, state: FrozenDict) -> Any:  # noqa: ANN401  what the last stage returned
        """What a finished run comes to under the contract.

        Args:
            value: The result's `value`.
            state: The result's `state`.

        Raises:
            OutputValidationError: It breaks the contract, which says that this is looked at.
        """
        return self.contract.output_of(value, state)

    def to_openapi(self, *, version: str = "1.0.0", base_path: str = "/", method: str = "post") -> dict[str, Any]:
        """The OpenAPI 3.1 description, with the schemas among its components (FLOW-CON-3).

        Args:
            version: Of the service.
            base_path: What comes before the operation's name in the path.
            method: HTTP method.
        """
        chart = self.chart
        name = local_name(chart.root.info)
        own = slug(name)
        said = chart.description
        operation = Operation(
            f"{base_path.rstrip('/')}/{own}", summary=name, description=said, method=method.lower(), operation_id=own
        )
        return openapi(
            operation,
            title=name,
            version=version,
            description=said,
            input=self.contract.input,
            output=self.contract.output,
            named=pascal(name),
        )

    def to_mcp_tool(self) -> dict[str, Any]:
        """The chart as a tool, with the input of this contract."""
        return mcp_tool(self.chart.root.info.local_id, self.chart.description, self.contract.input)


def define_contract(
    chart: BuiltChart,
    *,
    input: Any = None,  # noqa: ANN401  any kind of schema
    output: Any = None,  # noqa: ANN401  any kind of schema
    mapper: Callable[[FrozenDict], Any] | None = None,
    validate_output: bool = False,
) -> FlowContract:
    """Look at a built chart under a contract, without changing the chart.

    Args:
        chart: The built chart.
        input: Pydantic model, JSON Schema, or object with `validate`; the chart's own by default.
        output: As `input`.
        mapper: Makes what a run comes to of its final state.
        validate_output: Whether `output` is looked at when a run ends.

    Raises:
        ChartBuildError: A schema is none.
        MissingExtraError: A JSON Schema was given, and the package that reads those is not installed.
    """
    own = chart.contract
    made = Contract(chart.name, input=input, output=output, mapper=mapper, validate_output=validate_output)
    if own is not None:
        made.input = made.input or own.input
        made.output = made.output or own.output
        made.mapper = made.mapper or own.mapper
        made.validate_output = made.validate_output or own.validate_output
    return FlowContract(chart, made)
