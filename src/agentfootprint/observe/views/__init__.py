"""What goes on in runs, and what went on: readers of events that keep no more than they answer from."""
