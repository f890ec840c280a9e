"""Human labels: label files, the answers to label, and the data of a calibration."""
