"""Word reports, format numbers, and make untrusted text safe to print."""
