"""Runs the command as `python -m agentfootprint`."""

from __future__ import annotations

from agentfootprint.cli import main

if __name__ == "__main__":
    main()
