"""The native form: the lines of a run log, written from a journal and read into an index (01b s.3)."""
