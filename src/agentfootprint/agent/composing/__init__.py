"""What does a pass put into the slots of a request: how much, which tools, which messages?"""
