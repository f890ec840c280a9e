"""The language of reports and tables: of the option, else of the plan, else of the locale; one at a time."""

from __future__ import annotations

import pytest

CHINESE, ENGLISH = "检查点", "checkpoint"


@pytest.fixture(autouse=True)
def plain_locale(hengwen, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HENGWEN_LANG", "LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "plan_key", "locale", "expected"),
    [
        ([], "", "C.UTF-8", ENGLISH),
        ([], "", "zh_CN.UTF-8", CHINESE),
        ([], "language: zh\n", "en_GB.UTF-8", CHINESE),
        ([], "language: en\n", "zh_CN.UTF-8", ENGLISH),
        (["--lang", "zh"], "language: en\n", "en_GB.UTF-8", CHINESE),
        (["--lang", "en"], "", "zh_CN.UTF-8", ENGLISH),
    ],
    ids=["no language", "locale", "plan zh", "plan en", "option zh", "option en"],
)
def test_the_option_comes_before_the_plan_and_the_plan_before_the_locale(
    hengwen, plan, monkeypatch, options, plan_key, locale, expected
) -> None:
    monkeypatch.setenv("LANG", locale)
    plan.write_text(plan.read_text("utf-8") + plan_key, "utf-8")
    done = hengwen("run", "plan.yaml", *options)
    assert [text for text in (CHINESE, ENGLISH) if text in done.out] == [expected]
    assert [text for text in (CHINESE, ENGLISH) if text in hengwen("report", *options).out] == [expected]


@pytest.mark.parametrize("command", [["run", "plan.yaml"], ["demo"]], ids=["run", "demo"])
def test_an_unknown_language_is_an_error_before_any_work(hengwen, plan, command) -> None:
    done = hengwen(*command, "--lang", "fr")
    assert (done.code, done.out) == (2, "")
    assert "--lang is zh or en, got 'fr'" in done.err
    assert not (plan.parent / "hengwen.db").exists()
