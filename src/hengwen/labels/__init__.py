"""Human labels: write label files, select the answers to label, and collect labels for a calibration."""
