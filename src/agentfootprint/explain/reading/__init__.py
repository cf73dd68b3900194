"""What does the record say of an answer's context: what was read, where it came from, what was left out?"""
