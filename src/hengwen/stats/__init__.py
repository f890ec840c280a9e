"""Statistics shared by reports, calibration and monitoring."""
