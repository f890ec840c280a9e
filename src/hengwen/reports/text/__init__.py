"""Format the texts and numbers of reports, and make untrusted text safe to print."""
