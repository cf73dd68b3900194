"""Tests of agentfootprint.observe.export.port."""

from __future__ import annotations

from typing import Any

import pytest

from agentfootprint.errors import ConfigError
from agentfootprint.events import Event
from agentfootprint.observe import ConsoleExporter, Exporter, ExportOptions, FileExporter


class Mine:
    name = "mine"

    def export(self, event: Event[Any]) -> None: ...


def test_an_exporter_is_whatever_has_a_name_and_an_export() -> None:
    assert isinstance(Mine(), Exporter)
    assert isinstance(ConsoleExporter(), Exporter)
    assert issubclass(FileExporter, object)
    assert not isinstance(print, Exporter)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("tier", "loud"),
        ("sample_rate", 1.5),
        ("sample_rate", -0.1),
        ("sample_rate", float("nan")),
        ("flush_on", "never"),
        ("form", "both"),
    ],
)
def test_an_option_that_can_not_work_is_refused_by_name(option: str, value: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        ExportOptions(**{option: value})

    assert caught.value.option == f"options.{option}"
