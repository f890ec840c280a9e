"""Answered samples of a task, read one by one by scorers that score a checkpoint as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from hengwen._internal.spill_dict import SpillDict
from hengwen.records import Response, Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MAX_IN_MEMORY = 2_000
"""Number of samples above which responses of a model under test are kept in a temporary file."""


class AnsweredSamples(Sequence[tuple[Sample, Response]]):
    """The pairs (sample, response) of a task, in the order of the samples and repeats.

    Iterating needs little memory. Stored responses are read again in each iteration. Many responses of a
    model under test are kept in a temporary file. Selecting an item by its index reads all pairs into memory.
    """

    def __init__(self, samples: Iterable[Sample], stored: Callable[[str], Sequence[Response]] | None) -> None:
        self._samples = samples
        self._stored = stored
        self._generated: SpillDict[Sequence[Response]] = SpillDict(MAX_IN_MEMORY)
        self._count = 0
        self._pairs: list[tuple[Sample, Response]] = []

    def add(self, sample: Sample, responses: Sequence[Response]) -> None:
        """Add a sample with the responses that answer it."""
        self._count += len(responses)
        if self._stored is None and responses:
            self._generated[sample.id] = responses

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[tuple[Sample, Response]]:
        for sample in self._samples:
            for response in self._responses(sample.id):
                yield sample, response

    @overload
    def __getitem__(self, index: int) -> tuple[Sample, Response]: ...

    @overload
    def __getitem__(self, index: slice) -> list[tuple[Sample, Response]]: ...

    def __getitem__(self, index: int | slice) -> tuple[Sample, Response] | list[tuple[Sample, Response]]:
        if not self._pairs:
            self._pairs = list(self)
        return self._pairs[index]

    def _responses(self, sample_id: str) -> Sequence[Response]:
        if self._stored is not None:
            return self._stored(sample_id)
        return self._generated.get(sample_id, ())
