"""Names of the methods."""

from __future__ import annotations

from typing import Literal

Method = Literal[
    "uniform", "majority", "rating", "consistency", "judge-bt", "bradley-terry", "davidson", "elo"
]
