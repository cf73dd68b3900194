"""Several calls of one batch that wait for a person: asked in one pause, decided each on its own (02 s.27.10)."""
