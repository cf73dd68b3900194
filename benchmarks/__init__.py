"""What the design promises about cost, measured side by side in one alternating run."""
