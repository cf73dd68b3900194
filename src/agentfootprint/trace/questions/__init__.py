"""Questions to a commit log: who wrote it, from what, when, how well."""
