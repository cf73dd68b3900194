"""Whether an answer is the declared output, and what stands in for one that is not."""
