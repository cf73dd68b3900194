"""How a request is read and an answer written, as pure functions of one dialect (chapter 09, section 14; 05 s.10)."""
