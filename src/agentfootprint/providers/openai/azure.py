"""How is a deployment on Azure OpenAI asked?

Servers: Azure OpenAI's deployments, through OpenAI's official SDK in the modern dialect. Not offered: keyless access.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from agentfootprint.errors import ConfigError
from agentfootprint.providers.openai.client import OpenAIProvider
from agentfootprint.providers.openai.request import Dialect
from agentfootprint.providers.openai.transport import Route
from agentfootprint.providers.options import HttpOptions
from agentfootprint.providers.secrets import KeySource, environment

__all__ = ["AzureOpenAIProvider", "azure_base"]

_OWN_PATH: Final = "/openai"
_SHORTHANDS: Final = frozenset(("azure", "azure-openai", "openai"))


class AzureOpenAIProvider(OpenAIProvider):
    """A deployment on Azure OpenAI.

    Args:
        deployment: The deployment to ask when a request names none; by default `AZURE_OPENAI_DEPLOYMENT`, then
            `MODEL_NAME`.
        endpoint: The resource's address; by default `AZURE_OPENAI_ENDPOINT`, then `OPENAI_BASE_URL`.
        api_version: Azure's version of the API; by default `AZURE_OPENAI_API_VERSION`.
        http: Key and timeout; the key is otherwise `AZURE_OPENAI_API_KEY`, then `OPENAI_API_KEY`.

    Raises:
        ConfigError: Endpoint, version or deployment is missing; names it (AZU-1).
        MissingCredentialError: There is no key.
        MissingExtraError: The package `openai` is not installed.
    """

    name: str = "azure-openai"

    def __init__(
        self,
        deployment: str | None = None,
        *,
        endpoint: str | None = None,
        api_version: str | None = None,
        http: HttpOptions | None = None,
    ) -> None:
        self._http = http or HttpOptions()
        given = endpoint or self._http.base_url
        address = _needed("endpoint", given, "AZURE_OPENAI_ENDPOINT", "OPENAI_BASE_URL")
        self._version = _needed("api_version", api_version, "AZURE_OPENAI_API_VERSION")
        model = _needed("deployment", deployment, "AZURE_OPENAI_DEPLOYMENT", "MODEL_NAME")
        self._open(Dialect(default_model=model, shorthands=_SHORTHANDS), azure_base(address))

    def _key_source(self) -> KeySource | None:
        if self._http.client is not None and self._http.api_key is None:
            return None
        given = self._http.api_key or environment("AZURE_OPENAI_API_KEY", "OPENAI_API_KEY")
        return KeySource(self.name, given, variable="AZURE_OPENAI_API_KEY", label="Azure OpenAI")

    def _route(self, model: str, key: str) -> Route:
        path = f"/deployments/{quote(model, safe='')}/chat/completions"
        without = self._sdk.Omit()  # Azure takes a token there, and a key in a header of its own
        return Route(path, {"api-key": key, "Authorization": without}, {"api-version": self._version})


def azure_base(endpoint: str) -> str:
    """The base URL of an endpoint: `/openai` behind it unless it is there (AZU-2)."""
    base = endpoint.rstrip("/")
    return base if base.endswith(_OWN_PATH) else base + _OWN_PATH


def _needed(option: str, given: str | None, *variables: str) -> str:
    found = given or environment(*variables)
    if found is None:
        raise ConfigError(
            option,
            f"AzureOpenAIProvider needs its {option.replace('_', ' ')}, and {variables[0]} is not set.",
            fix=f"Set {' or '.join(variables)}, or pass {option}=.",
        )
    return found
