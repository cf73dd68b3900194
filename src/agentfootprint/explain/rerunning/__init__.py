"""Runs made again: without a source, compared, counted, judged."""
