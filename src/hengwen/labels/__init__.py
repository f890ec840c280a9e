"""Human labels: files, sampling of answers to label, joining labels with verdicts."""
