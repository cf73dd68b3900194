"""How events are sent away: the port, how an exporter is attached, and exporters that need no other package."""
