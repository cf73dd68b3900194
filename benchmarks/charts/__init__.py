"""What the flowchart engine costs, alone and beside LangGraph's StateGraph and Burr's Application."""
