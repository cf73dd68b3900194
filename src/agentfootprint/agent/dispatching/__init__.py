"""What both halves of the batch stage share: what a call came to, and how one that may run is run."""
