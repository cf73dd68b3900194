"""Feeding what a run heard through the loop once more, and comparing what it says (02 s.27.13)."""
