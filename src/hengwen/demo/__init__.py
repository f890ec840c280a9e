"""The packaged demo plan, with prompts, stored answers of four checkpoints, human labels and anchors."""
