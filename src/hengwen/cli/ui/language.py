"""Choose the language in which a command shows reports, tables and the label form."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hengwen.cli.ui import options
from hengwen.text.catalogue import locale_language

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.text.language import Language


def choose_language(
    option: str | None, plan: object = None, environment: Mapping[str, str] = os.environ
) -> Language:
    """Return the language that the option names, else that of the plan, else that of the locale."""
    if option is not None:
        return options.parse_language(option)
    if plan in ("zh", "en"):
        return "en" if plan == "en" else "zh"
    return locale_language(environment)
