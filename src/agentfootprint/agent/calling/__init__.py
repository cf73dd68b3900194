"""One model call without a loop: its chart and its stages."""
