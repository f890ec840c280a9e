"""The packaged demo suite: prompts, stored answers of four checkpoints, labels and anchors."""
