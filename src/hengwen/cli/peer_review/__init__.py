"""Output of the command ``peer-review``."""
