"""The cases of the conformance suite for session stores, by the law they check (chapter 09, section 18)."""
