"""What the same agent loop costs in other frameworks: `make bench-peers`, in an environment of its own."""
