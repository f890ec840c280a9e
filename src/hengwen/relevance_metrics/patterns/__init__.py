"""Count ordinal patterns, and compute their entropies, transitions and distances."""
