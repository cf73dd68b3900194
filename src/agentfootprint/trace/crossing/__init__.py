"""Questions to all runtimes of a run at once: through mounts, branches and nested places."""
