"""What a run writes down, and the forms that are read off it."""
