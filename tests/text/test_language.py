"""The languages of prompts."""

from __future__ import annotations

import pytest
from rows import each_row

from hengwen.text.language import check_language


def test_both_languages_are_known() -> None:
    assert [check_language(language) for language in ("zh", "en")] == ["zh", "en"]


@each_row("language", ["fr", "", "ZH", "both"])
def test_another_language_is_refused(language: str) -> None:
    with pytest.raises(ValueError, match=f"language must be 'zh' or 'en', got '{language}'"):
        check_language(language)
