"""How much does a text resemble another, and what does that say of an order?"""
