"""Check the types of arguments where users call: a wrong one is a TypeError that says what is expected.

The annotations are the rules.
"""

from hengwen.argument_types.checks import check_fields, check_type, checked_arguments, checked_fields
from hengwen.argument_types.kinds import kind_of

__all__ = ["check_fields", "check_type", "checked_arguments", "checked_fields", "kind_of"]
