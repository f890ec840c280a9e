"""Check the types of arguments of public functions. The expected types are read from the annotations.

A wrong type raises a TypeError that says what is expected.
"""

from hengwen.argument_types.checks import check_fields, check_type, checked_arguments, checked_fields
from hengwen.argument_types.kinds import kind_of

__all__ = ["check_fields", "check_type", "checked_arguments", "checked_fields", "kind_of"]
