"""The HTTP layer that backends share: endpoint settings, transport, conversion of errors."""
