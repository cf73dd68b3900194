"""How is a chart offered to others: as a service (OpenAPI) or as a tool (MCP) (FLOW-CON-3, 4)?

Both are descriptions made of what the chart says of itself; nothing is served here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias, cast

from agentfootprint.flow.out.schema import Schema

__all__ = ["Operation", "mcp_tool", "openapi", "pascal", "slug"]

Json: TypeAlias = "dict[str, Any]"
_COMPONENTS = "#/components/schemas/"


class Operation:
    """The one thing that the service of a chart does.

    Args:
        path: Where, beginning with `/`.
        summary: In a few words.
        description: At length.
        method: HTTP method, in lower case.
        operation_id: Its name for generated clients; none by default.
    """

    def __init__(
        self, path: str, *, summary: str, description: str, method: str = "post", operation_id: str | None = None
    ) -> None:
        self.path = path
        self.method = method
        self.body: Json = {} if operation_id is None else {"operationId": operation_id}
        self.body |= {"summary": summary, "description": description}


def openapi(
    operation: Operation,
    *,
    title: str,
    version: str,
    description: str,
    input: Schema | None = None,
    output: Schema | None = None,
    named: str | None = None,
) -> Json:
    """The OpenAPI 3.1 document of a chart.

    Args:
        operation: What it does.
        title: Of the service.
        version: Of the service.
        description: Of the service.
        input: Schema of the request.
        output: Schema of the answer.
        named: Prefix of the names the schemas get among the components, with a description of failures; by default
            they stand where they are used.
    """
    components: Json = {}
    responses: Json = {"200": {"description": "Success"}}
    if input is not None:
        schema = _placed(input, components, None if named is None else f"{named}Input")
        operation.body["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    if output is not None:
        schema = _placed(output, components, None if named is None else f"{named}Output")
        responses["200"]["content"] = {"application/json": {"schema": schema}}
    if named is not None:
        responses["500"] = {"description": "The run failed"}
    operation.body["responses"] = responses
    document: Json = {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version, "description": description},
        "paths": {operation.path: {operation.method: operation.body}},
    }
    return document | ({"components": {"schemas": components}} if components else {})


def mcp_tool(root_id: str, description: str, schema: Schema | None) -> Json:
    """A chart as a tool of the Model Context Protocol.

    Args:
        root_id: Id of its first stage: the tool's name, where characters that names can't have become `_`.
        description: What the tool does.
        schema: Schema of a run's input; None takes nothing.
    """
    name = re.sub(r"[^A-Za-z0-9_.-]", "_", root_id).strip("_") or "execute"
    closed: Json = {"type": "object", "properties": {}, "additionalProperties": False}
    return {"name": name, "description": description, "inputSchema": closed if schema is None else schema.json_schema()}


def slug(text: str) -> str:
    """Lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "execute"


def pascal(text: str) -> str:
    """Words run together, each with a capital."""
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", text)) or "Flow"


def _placed(schema: Schema, components: Json, name: str | None) -> Json:
    """A schema where it is used, its definitions among the components; with a name, only a reference to it."""
    found = schema.json_schema()
    names: dict[str, str] = {}
    definitions: Json = {}
    for place in ("$defs", "definitions"):
        own = found.pop(place, None)
        if not isinstance(own, Mapping):
            continue
        for key, definition in cast("Mapping[str, Any]", own).items():
            free = key if name is None or key not in components else f"{name}{key}"
            while free in components or free in definitions:
                free += "_"
            names[f"#/{place}/{key}"] = free
            definitions[free] = definition
    for key, definition in definitions.items():
        components[key] = _pointed(definition, names)
    found = cast("Json", _pointed(found, names))
    if name is None:
        return found
    components[name] = found
    return {"$ref": _COMPONENTS + name}


def _pointed(schema: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401  any part of a schema
    """A part of a schema, its references led to the components."""
    if isinstance(schema, list):
        return [_pointed(item, names) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    made: Json = {}
    for key, value in cast("Json", schema).items():
        is_known = key == "$ref" and isinstance(value, str) and value in names
        made[key] = _COMPONENTS + names[value] if is_known else _pointed(value, names)
    return made
