"""What stands between the model and its tools, and at both ends of the conversation: permissions and rules."""
