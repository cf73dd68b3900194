"""Tests of agentfootprint.flow.out.services."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from agentfootprint.flow import Chart, Stage, define_contract
from tests.flow.charts import nothing, raw


class Address(BaseModel):
    street: str


class Customer(BaseModel):
    address: Address


class Answer(BaseModel):
    old: Address
    told: bool


def chart(id: str = "start", name: str = "Start here") -> Chart:
    return Chart.of("Desk", Stage(nothing, id=id, name=name, raw=True))


def test_a_service_tells_what_it_takes_and_gives() -> None:
    own = chart()
    own.contract(input=Customer, output={"type": "integer"})

    document = own.build().to_openapi(title="Desk", version="2.1", description="A desk.", path="/desk")

    post = document["paths"]["/desk"]["post"]
    assert document["openapi"] == "3.1.0"
    assert document["info"] == {"title": "Desk", "version": "2.1", "description": "A desk."}
    assert post["requestBody"]["required"] is True
    schema = post["requestBody"]["content"]["application/json"]["schema"]
    assert schema["properties"]["address"] == {"$ref": "#/components/schemas/Address"}
    assert "$defs" not in schema
    assert document["components"]["schemas"]["Address"]["required"] == ["street"]
    assert post["responses"]["200"]["content"]["application/json"]["schema"] == {"type": "integer"}


def test_a_contract_names_its_schemas_among_the_components() -> None:
    document = define_contract(chart().build(), input=Customer, output=Answer).to_openapi(
        version="3", base_path="/api/", method="PUT"
    )

    put = document["paths"]["/api/start-here"]["put"]
    assert put["operationId"] == "start-here"
    assert put["requestBody"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/StartHereInput"
    }
    assert set(put["responses"]) == {"200", "500"}
    schemas = document["components"]["schemas"]
    assert set(schemas) == {"Address", "StartHereInput", "StartHereOutput", "StartHereOutputAddress"}
    assert schemas["StartHereOutput"]["properties"]["old"] == {"$ref": "#/components/schemas/StartHereOutputAddress"}


def test_definitions_of_a_json_schema_go_among_the_components_too() -> None:
    schema = {
        "$ref": "#/definitions/p",
        "definitions": {"p": {"type": "object", "anyOf": [{"$ref": "#/definitions/p"}]}},
    }
    document = define_contract(chart().build(), input=schema).to_openapi()

    schemas = document["components"]["schemas"]
    assert schemas["StartHereInput"] == {"$ref": "#/components/schemas/p"}
    assert schemas["p"]["anyOf"] == [{"$ref": "#/components/schemas/p"}]


def test_the_default_path_is_made_of_the_id_of_the_first_stage() -> None:
    assert list(chart("Check_It").build().to_openapi()["paths"]) == ["/check-it"]
    assert list(define_contract(chart(name="?").build()).to_openapi()["paths"]) == ["/execute"]


@pytest.mark.parametrize(("id", "name"), [("a.b-c", "a.b-c"), ("a b?", "a_b"), ("_x_", "x"), ("?", "execute")])
def test_a_tool_has_a_name_that_tools_may_have(id: str, name: str) -> None:
    assert chart(id).build().to_mcp_tool()["name"] == name


def test_a_tool_tells_what_it_takes() -> None:
    own = chart()
    own.contract(input=Customer)

    tool = own.build().to_mcp_tool(name="my desk", description="Ask the desk.")

    assert (tool["name"], tool["description"]) == ("my_desk", "Ask the desk.")
    assert tool["inputSchema"]["required"] == ["address"]


def test_a_tool_without_a_contract_takes_nothing() -> None:
    assert chart().build().to_mcp_tool()["inputSchema"] == {
        "type": "object", "properties": {}, "additionalProperties": False,
    }  # fmt: skip


def test_changing_what_was_given_changes_no_chart() -> None:
    flow = Chart.of("C", raw("s")).build()
    tool: dict[str, Any] = flow.to_mcp_tool()
    expected = flow.to_mcp_tool()
    tool["inputSchema"]["properties"]["x"] = 1

    assert flow.to_mcp_tool() == expected


def test_a_contract_beside_a_chart_leaves_the_chart_as_it_is_and_takes_over_what_it_does_not_say() -> None:
    own = chart()
    own.contract(output=Answer, mapper=lambda state: 1)
    flow = own.build()

    contract = define_contract(flow, input=Customer)

    assert flow.contract is not None
    assert flow.contract.input is None
    assert contract.output_schema == Answer.model_json_schema()
    assert contract.input_schema == Customer.model_json_schema()
    assert contract.to_mcp_tool()["inputSchema"]["required"] == ["address"]
    assert contract.accepted({"address": {"street": "x", "no": 1}}) == {"address": {"street": "x"}}
    assert define_contract(chart().build()).input_schema is None
    assert define_contract(chart().build()).output_schema is None
