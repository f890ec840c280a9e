"""Names of the methods that compute scores of models."""

from __future__ import annotations

from typing import Literal

Method = Literal[
    "uniform", "majority", "rating", "consistency", "judge-bt", "bradley-terry", "davidson", "elo"
]
