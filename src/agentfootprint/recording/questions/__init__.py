"""What is asked of a recording, and from what it is answered: one way, wherever the recording is."""
