"""A run as a file of lines that grows while it goes on, and what can be asked of such a file (LIN-9, 24.11)."""
