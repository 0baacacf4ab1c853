"""Training: objectives, optimisers, the loop, and its checkpoints."""
