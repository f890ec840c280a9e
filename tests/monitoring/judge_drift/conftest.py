"""Plans with one checkpoint at a time, and judges whose verdicts a test decides."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from hengwen import Store, open_store, run_plan
from hengwen.backends.replay import ReplayBackend
from hengwen.errors import BackendError
from hengwen.records import Reply, Request, Usage

LABELS = "EDCBA"
"""Labels of the levels 0 to 4 of ``persona_generic``."""
Answers = Mapping[str, Sequence[int]]
"""Level of each repeat of the answer to each prompt."""


def answers(levels: Sequence[int], repeats: int = 1, prefix: str = "p") -> Answers:
    return {f"{prefix}{index}": [level] * repeats for index, level in enumerate(levels)}


@dataclass
class ScriptedJudges:
    """Judges that read the true level in an answer; a test changes what they make of it."""

    shift: Callable[[str, str, int], int] = lambda model, text, level: level
    """Function of (model, answer, level) that returns the level to give."""
    returned: dict[str, str] = field(default_factory=dict)
    """Name that the server returns, by the name of the model in the plan."""
    fails: Callable[[str, str], bool] = lambda model, text: False
    """Function of (model, answer) that says whether the call fails."""
    calls: Counter[str] = field(default_factory=Counter)

    async def complete(self, backend: ReplayBackend, request: Request) -> Reply:
        model = backend.signature.partition("/")[2].partition("|")[0]
        text = request.messages[-1][1]
        match = re.search(r"第(\d)级 (\S+)", text)
        assert match is not None
        self.calls[model] += 1
        if self.fails(model, match[2]):
            raise BackendError("no reply", status="refused")
        label = LABELS[max(0, self.shift(model, match[2], int(match[1])))]
        assert request.schema is not None
        criteria = request.schema["properties"]["criteria"]["properties"]
        reply = {"reason": "读过了", "criteria": dict.fromkeys(criteria, label), "level": label}
        usage = Usage(calls=1, input_tokens=100, output_tokens=20)
        return Reply(text=json.dumps(reply), model=self.returned.get(model, f"{model}-1"), usage=usage)


@pytest.fixture
def judges(monkeypatch: pytest.MonkeyPatch) -> ScriptedJudges:
    """Let every replay backend reply as a scripted judge."""
    scripted = ScriptedJudges()
    monkeypatch.setattr(ReplayBackend, "__init__", _without_replies(ReplayBackend.__init__))
    monkeypatch.setattr(
        ReplayBackend, "complete", lambda backend, request: scripted.complete(backend, request)
    )
    return scripted


def _without_replies(init: Any) -> Any:
    def begin(self: ReplayBackend, **options: Any) -> None:
        init(self, **{**options, "replies": []})

    return begin


@dataclass
class Plans:
    """Writes plans into a folder, and runs them in one store."""

    folder: Path
    store: Store

    def write(
        self,
        checkpoint: str,
        given: Answers,
        *,
        models: Sequence[str] = ("m",),
        anchors: Answers | None = None,
        prompts: Sequence[str] | None = None,
        inputs: str = "问",
        author: str = "",
        **task: Any,
    ) -> Path:
        """Write a plan of one checkpoint with stored answers; several models are a panel."""
        samples = [{"id": name, "input": f"{inputs}{name}"} for name in prompts or given]
        rows: list[dict[str, object]] = [
            {"id": name, "output": f"第{level}级 {author or checkpoint}-{name}-{repeat}", "repeat": repeat}
            for name, levels in given.items()
            for repeat, level in enumerate(levels, start=1)
        ]
        judge: dict[str, Any] = {"rubric": "persona_generic", "judge": "rubric"}
        judge |= {"backend": models[0]} if len(models) == 1 else {"panel": list(models)}
        plan: dict[str, Any] = {
            "name": "p",
            "backends": {
                model: {"provider": "replay", "model": model, "price": {"input": 1, "output": 1}}
                for model in models
            },
            "tasks": [{"name": "t", "samples": "samples.jsonl", "judges": [judge], **task}],
            "checkpoints": [{"name": checkpoint, "responses": f"{checkpoint}.jsonl"}],
        }
        files: dict[str, Sequence[Mapping[str, object]]] = {"samples": samples, checkpoint: rows}
        if anchors is not None:
            plan["anchors"] = "anchors.jsonl"
            files["anchors"] = [
                {
                    "task": "t",
                    "id": name,
                    "input": "问",
                    "output": f"第{level}级 anchor-{name}",
                    "score": "persona_generic.level",
                    "value": level / 4,
                }
                for name, levels in anchors.items()
                for level in levels
            ]
        for name, lines in files.items():
            text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            (self.folder / f"{name}.jsonl").write_text(text, "utf-8")
        path = self.folder / "plan.yaml"
        path.write_text(yaml.safe_dump(plan, allow_unicode=True), "utf-8")
        return path

    def run(self, checkpoint: str, given: Answers, **options: Any) -> Path:
        """Write a plan and run it."""
        path = self.write(checkpoint, given, **options)
        run_plan(path, store=self.store)
        return path


@pytest.fixture
def plans(tmp_path: Path, judges: ScriptedJudges) -> Iterator[Plans]:
    """Plans in a folder with an open store."""
    with open_store(tmp_path / "x.db") as store:
        yield Plans(tmp_path, store)
