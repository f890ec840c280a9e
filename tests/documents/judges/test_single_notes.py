"""Notes of single checks and of numbers without a value are in both languages."""

from __future__ import annotations

from rows import each_row

from hengwen.documents.judges.calibration_words import no_estimate_text
from hengwen.documents.judges.doctor import note_text
from hengwen.judges.calibration.agreement import measure_agreement
from hengwen.judges.trust.admission_plan import AdmissionPlan, _add_notes
from hengwen.prompts import load_rubric


@each_row(("human", "judge"), [([1, 1], [0, 1]), ([0, 1], [1, 1]), ([1, 1], [1, 1]), ([0, 1], [0, 1])])
def test_an_estimate_that_is_not_defined_says_why_in_chinese(human, judge) -> None:
    estimate = measure_agreement(human, judge, levels=[0, 0.5, 1]).quadratic_kappa
    if estimate.value is None:
        text = no_estimate_text(estimate.reason)
        assert text.zh.startswith("无定义")
        assert text.en == estimate.reason


@each_row("changes", [{}, {"examples": []}])
def test_each_note_of_a_check_has_chinese_words(changes) -> None:
    plan = AdmissionPlan()
    _add_notes(plan, load_rubric("persona_generic").model_copy(update=changes))
    assert len(plan.notes) >= 4
    assert all(not note_text(note).zh.isascii() for note in plan.notes.values())
