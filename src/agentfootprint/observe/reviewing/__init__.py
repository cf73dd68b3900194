"""Runs kept to be looked at again: recorded while they happen, played back event by event."""
