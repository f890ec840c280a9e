"""The shared HTTP layer of backends: endpoint settings, transport, error mapping."""
