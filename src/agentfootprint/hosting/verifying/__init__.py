"""Who is calling, as proven by a token (chapter 09, section 20)."""
