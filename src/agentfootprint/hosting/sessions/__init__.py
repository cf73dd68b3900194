"""What is kept of a conversation between two requests, where, and for whom (chapter 09, sections 15 to 19)."""
