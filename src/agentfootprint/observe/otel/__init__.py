"""Runs as OpenTelemetry spans."""
