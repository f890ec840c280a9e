"""Secrets in the texts of an endpoint are hidden, whatever the text is."""

from __future__ import annotations

import json

from rows import each_row

from hengwen.backends.http import redact, retry_after

SECRET = "sk-ab\\cd/e f"


@each_row(
    "text",
    [
        SECRET,
        json.dumps(json.dumps(SECRET)),
        SECRET.replace("/", "\\/"),
        "".join(f"\\u{ord(char):04X}" for char in SECRET),
        "".join(f"%{ord(char):02x}" for char in SECRET),
        "\\\\" + SECRET,
    ],
)
def test_every_spelling_of_a_secret_is_hidden(text: str) -> None:
    assert redact(f"a {text} b", [SECRET]).strip('"\\').replace('"', "").replace("\\", "") == "a [hidden] b"


@each_row("text", ["\\" * 1_000_000, "sk-\\" * 250_000, "%73" * 300_000])
def test_a_text_of_marks_only_takes_no_more_time_than_its_length(text: str) -> None:
    assert redact(text, [SECRET, "sk-0123456789"]) == text  # with backtracking: hours


@each_row("year", [1999, 2026, 2099])
def test_a_date_to_wait_for_is_that_of_the_servers_clock(year: int) -> None:
    date = f"01 Jan {year} 12:00"
    assert retry_after({"retry-after": f"{date}:30 GMT", "date": f"{date}:00 GMT"}) == 30
    assert retry_after({"retry-after": f"{date}:00 GMT", "date": f"{date}:30 GMT"}) == 0
