"""The audit chain: what happened, as records that each carry the hash of the one before (chapter 05, section 7)."""
