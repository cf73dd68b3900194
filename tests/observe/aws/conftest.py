"""A server that speaks what AWS speaks, on the loopback interface."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
from moto.server import ThreadedMotoServer

boto3: Any = importlib.import_module("boto3")  # which has no stubs


class Cloud:
    """Clients of the server."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._clients: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        """A client as an application makes one."""
        if service not in self._clients:
            self._clients[service] = boto3.client(
                service,
                endpoint_url=self._url,
                region_name="eu-central-1",
                aws_access_key_id="test",
                aws_secret_access_key="test",
            )
        return self._clients[service]

    def close(self) -> None:
        for client in self._clients.values():
            client.close()

    def lines(self, group: str, stream: str = "agentfootprint") -> list[str]:
        """The lines of a log stream, in order."""
        found = self.client("logs").get_log_events(logGroupName=group, logStreamName=stream, startFromHead=True)
        return [each["message"] for each in found["events"]]


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    made: Any = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    made.start()
    host, port = made.get_host_and_port()
    yield f"http://{host}:{port}"
    made.stop()
    made._server.server_close()  # which it leaves to the end of the process


@pytest.fixture
def cloud(server: str) -> Iterator[Cloud]:
    made = Cloud(server)
    yield made
    made.close()
