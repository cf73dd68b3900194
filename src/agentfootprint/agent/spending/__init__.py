"""What a run spends: prices, budgets, and what follows when one is crossed."""
