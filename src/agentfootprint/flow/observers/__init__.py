"""Recorders that are told later: what they are told waits in a bounded queue, off the path of the run.

The door is `agentfootprint.flow`; the engine's own modules import from the files here. Nothing of it is imported
before a recorder is attached as deferred.
"""
