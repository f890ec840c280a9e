"""Confidence intervals and tests that reports and calibration share."""
