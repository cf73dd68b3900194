"""The explainable agent framework: trace a wrong answer back to the exact context that caused it."""
