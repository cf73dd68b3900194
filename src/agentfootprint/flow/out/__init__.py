"""A chart told to others: its structure, its description, drawings, contracts and descriptions for tools and services.

Rooms import from the door `agentfootprint.flow`; this package only groups files.
"""
