"""The list of prices."""

from __future__ import annotations

import csv
from importlib.resources import files

from hengwen.plans.endpoints import LISTED, listed_price


def test_a_listed_price_is_that_of_the_provider_itself() -> None:
    price = listed_price("https://api.openai.com/v1", "gpt-4o-mini")
    assert price is not None
    assert (price.input, price.output, price.currency, price.source) == (0.15, 0.6, "USD", LISTED)
    assert listed_price("http://127.0.0.1:8000/v1", "gpt-4o-mini") is None  # somebody else serves it
    assert listed_price("https://api.openai.com/v1", "gpt-4o-mini-2024") is None
    assert listed_price("replay", "gpt-4o-mini") is None


def test_every_listed_price_names_its_source() -> None:
    rows = list(csv.DictReader((files("hengwen.plans") / "prices.csv").read_text("utf-8").splitlines()))
    assert len({(row["host"], row["model"]) for row in rows}) == len(rows) > 0
    for row in rows:
        assert row["source"].startswith("https://")
        assert row["model"] == row["model"].lower()
        assert 0 < float(row["input"]) <= float(row["output"])
        assert row["currency"] == "USD"
