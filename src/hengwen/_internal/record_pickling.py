"""Import this to pickle records by their fields, unchecked: twice as fast as frozen dataclasses else are."""

from __future__ import annotations

import copyreg
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from hengwen.records import Failure, Response, Sample, Score

if TYPE_CHECKING:
    from collections.abc import Callable

Reduced = tuple[Any, tuple[Any, ...]]


def _reducer(record: type[Any], restore: Callable[..., Any]) -> Callable[[Any], Reduced]:
    fields = attrgetter(*record.__dataclass_fields__)
    return lambda instance: (restore, fields(instance))


def _restorer(record: type[Any]) -> Callable[..., Any]:
    setters = tuple(getattr(record, name).__set__ for name in record.__dataclass_fields__)

    def restore(*values: Any) -> Any:
        instance = object.__new__(record)
        for setter, value in zip(setters, values, strict=True):
            setter(instance, value)
        return instance

    restore.__qualname__ = f"restore_{record.__name__.lower()}"
    return restore


restore_sample = _restorer(Sample)
restore_response = _restorer(Response)
restore_score = _restorer(Score)
restore_failure = _restorer(Failure)
copyreg.pickle(Sample, _reducer(Sample, restore_sample))
copyreg.pickle(Response, _reducer(Response, restore_response))
copyreg.pickle(Score, _reducer(Score, restore_score))
copyreg.pickle(Failure, _reducer(Failure, restore_failure))
