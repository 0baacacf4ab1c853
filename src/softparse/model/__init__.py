"""Networks: word representation, encoder, scorers."""
