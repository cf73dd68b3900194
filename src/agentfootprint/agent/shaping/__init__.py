"""What shapes a run: the output type, its own model and base prompt, and the manifest of what it is made of."""
