"""Where in a run something begins and ends: its boundaries as one list of events, and the graphs drawn from it."""
