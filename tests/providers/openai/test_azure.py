"""Tests of agentfootprint.providers.openai.azure."""

from __future__ import annotations

import dataclasses

from agentfootprint.providers import AzureOpenAIProvider, HttpOptions
from agentfootprint.testing import FakeVendor, OpenAIWire, Received, Refusal, Reply
from tests.providers.chances import KEY, ask, asked


@dataclasses.dataclass(frozen=True, slots=True)
class AzureWire(OpenAIWire):
    """OpenAI's wire behind Azure's paths, with the key in a header of its own."""

    @property
    def base_path(self) -> str:
        return ""

    def check(self, request: Received) -> Refusal | None:
        if request.headers.get("api-key") != KEY or "authorization" in request.headers:
            return Refusal("Access denied due to invalid subscription key.", 401)
        if not request.path.startswith("/openai/deployments/"):
            return Refusal("Resource not found", 404)
        headers = {**request.headers, "authorization": f"Bearer {KEY}"}
        inner = dataclasses.replace(request, path="/v1/chat/completions", headers=headers)
        return OpenAIWire.check(self, inner)


async def test_each_request_goes_to_its_deployment_with_the_version() -> None:
    async with FakeVendor(AzureWire(), [Reply("x"), Reply("y")]) as vendor:
        http = HttpOptions(api_key=KEY)
        async with AzureOpenAIProvider("gpt 4", endpoint=vendor.base_url, api_version="v1", http=http) as model:
            whole = await model.complete(ask(model="azure", max_tokens=5))
            streamed = await asked(model, ask(model="other"), streamed=True)

    assert (whole.content, streamed.content, model.name) == ("x", "y", "azure-openai")
    assert [request.path for request in vendor.requests] == [
        "/openai/deployments/gpt%204/chat/completions?api-version=v1",
        "/openai/deployments/other/chat/completions?api-version=v1",
    ]
    assert vendor.bodies[0]["max_completion_tokens"] == 5
    assert vendor.refused == []
