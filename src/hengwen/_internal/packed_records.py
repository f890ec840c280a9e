"""Convert records to tuples and back, because tuples are pickled ten times faster than frozen dataclasses.

Only records that were checked when they were created are packed, so they are not checked again when they are
unpacked.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast

from hengwen.records import Failure, Response, Sample, Score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Record = TypeVar("Record", Sample, Response, Score, Failure)
Packed = tuple[Any, ...]


def _packer(record: type[Record]) -> tuple[Callable[[Record], Packed], Callable[[Packed], Record]]:
    """Return the functions that pack and unpack records of a class with slots."""
    names = tuple(record.__dataclass_fields__)
    setters = tuple(getattr(record, name).__set__ for name in names)
    new = record.__new__

    def unpack(values: Packed) -> Record:
        instance = new(record)
        for setter, value in zip(setters, values, strict=True):
            setter(instance, value)
        return instance

    return cast("Callable[[Record], Packed]", attrgetter(*names)), unpack


pack_sample, unpack_sample = _packer(Sample)
pack_response, unpack_response = _packer(Response)


def pack_responses(responses: Sequence[Response]) -> tuple[Packed, ...]:
    """Return packed responses."""
    return tuple(map(pack_response, responses))


def unpack_responses(packed: Iterable[Packed]) -> tuple[Response, ...]:
    """Return the responses that ``pack_responses`` packed."""
    return tuple(map(unpack_response, packed))


_pack_score, _unpack_score = _packer(Score)
_pack_failure, _unpack_failure = _packer(Failure)


def pack_outcome(outcome: object) -> object:
    """Return a Score or Failure as a pair (whether it is a Score, its fields); anything else unchanged."""
    if type(outcome) is Score:
        return True, _pack_score(outcome)
    if type(outcome) is Failure:
        return False, _pack_failure(outcome)
    return outcome


def unpack_outcome(packed: Any) -> Any:
    """Return the outcome that ``pack_outcome`` packed."""
    if type(packed) is not tuple:
        return packed
    is_score, values = packed
    return _unpack_score(values) if is_score else _unpack_failure(values)
