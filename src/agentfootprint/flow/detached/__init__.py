"""Charts that run apart: started by a stage or an executor, waited for later or never.

The door is `agentfootprint.flow`; the engine's own modules import from the files here. Nothing of it is imported
before something is detached.
"""
