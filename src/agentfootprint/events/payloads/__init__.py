"""The payload classes, one file a family of domains; `agentfootprint.events.registry` holds the one list of them."""
