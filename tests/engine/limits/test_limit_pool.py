"""Limits of endpoints, divided among processes: never exceeded, never lost, never unfair for long."""

from __future__ import annotations

import random

from rows import each_row

from hengwen.engine.limits.limit_pool import Demand, EndpointLimits, Grant, LimitPool, fair_shares


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@each_row(
    ("total", "usable", "shares"),
    [
        (8, {"a": 8, "b": 8}, {"a": 4, "b": 4}),
        (8, {"a": 1, "b": 8}, {"a": 1, "b": 7}),
        (8, {"a": 0, "b": 3}, {"a": 0, "b": 3}),
        (1, {"a": 5, "b": 5}, {"a": 0, "b": 1}),
        (64, {"a": 64}, {"a": 64}),
    ],
)
def test_shares_are_fair(total: int, usable: dict[str, int], shares: dict[str, int]) -> None:
    assert fair_shares(total, usable) == shares


def test_a_process_alone_gets_what_it_wants_up_to_the_limit() -> None:
    pool = LimitPool({"e": EndpointLimits(concurrency=8)})
    assert pool.sync("a", "e", Demand(usable=3)).slots == 3
    assert pool.sync("a", "e", Demand(slots=3, usable=20)).slots == 8
    assert pool.sync("a", "e", Demand(slots=8, usable=2)).slots == 8  # kept, because nobody else needs them
    assert pool.sync("a", "e", Demand(slots=8)).slots == 0


def test_a_slot_is_given_to_another_process_only_after_its_call_has_ended() -> None:
    pool = LimitPool({"e": EndpointLimits(concurrency=8)})
    pool.sync("a", "e", Demand(usable=8))
    assert pool.sync("b", "e", Demand(usable=8)).slots == 0
    assert pool.sync("a", "e", Demand(slots=8, usable=8)).slots == 4
    assert pool.sync("b", "e", Demand(usable=8)).slots == 0
    pool.sync("a", "e", Demand(slots=6, usable=8))  # two calls have ended
    assert pool.sync("b", "e", Demand(usable=8)).slots == 2
    pool.sync("a", "e", Demand(slots=4, usable=8))
    assert pool.sync("b", "e", Demand(slots=2, usable=8)).slots == 4


def test_the_slots_of_a_killed_process_are_given_to_the_others() -> None:
    pool = LimitPool({"e": EndpointLimits(concurrency=4), "f": EndpointLimits(concurrency=2)})
    pool.sync("a", "e", Demand(usable=4))
    pool.sync("a", "f", Demand(usable=2))
    assert pool.sync("b", "e", Demand(usable=4)).slots == 0
    pool.forget("a")
    pool.forget("never seen")
    assert pool.sync("b", "e", Demand(usable=4)).slots == 4
    assert pool.sync("a", "f", Demand(usable=2)) == Grant(slots=0)  # sent before it was killed
    assert pool.sync("b", "f", Demand(usable=2)).slots == 2


def test_calls_per_minute_come_in_blocks_and_refill() -> None:
    clock = Clock()
    pool = LimitPool({"e": EndpointLimits(concurrency=8, rpm=60)}, clock=clock)
    assert pool.sync("a", "e", Demand(usable=80, calls=80)).calls == 60
    assert pool.sync("a", "e", Demand(usable=20, calls=20)).calls == 0
    clock.now = 3.5
    assert pool.sync("a", "e", Demand(usable=20, calls=20)).calls == 3
    clock.now = 4.0  # half a call was left
    assert pool.sync("a", "e", Demand(usable=17, calls=17)).calls == 1
    clock.now = 1000.0
    assert pool.sync("a", "e", Demand(usable=99, calls=99)).calls == 60


def test_processes_that_need_calls_get_equal_parts_of_what_is_left() -> None:
    pool = LimitPool({"e": EndpointLimits(concurrency=8, rpm=90)}, clock=Clock())
    pool.sync("b", "e", Demand(usable=99))
    pool.sync("c", "e", Demand(usable=99))
    assert [pool.sync(name, "e", Demand(usable=99, calls=99)).calls for name in "abc"] == [30, 20, 14]


def test_tokens_per_minute_are_divided_too() -> None:
    clock = Clock()
    pool = LimitPool({"e": EndpointLimits(concurrency=8, tpm=600)}, clock=clock)
    assert pool.sync("a", "e", Demand(usable=1, tokens=450)).tokens == 450
    assert pool.sync("a", "e", Demand(usable=1, tokens=450)).tokens == 150
    clock.now = 15.0
    assert pool.sync("a", "e", Demand(usable=1, tokens=450)).tokens == 150
    assert pool.sync("a", "e", Demand(usable=1, tokens=0)).calls == 0


@each_row("seed", range(20))
def test_slots_never_exceed_the_limit_whatever_processes_do(seed: int) -> None:
    source = random.Random(seed)
    limit = source.randrange(1, 12)
    pool = LimitPool({"e": EndpointLimits(concurrency=limit)})
    granted = dict.fromkeys("abcd", 0)
    in_flight = dict.fromkeys("abcd", 0)
    names = list("abcd")
    for _ in range(500):
        name = source.choice(names)
        in_flight[name] = source.randrange(in_flight[name] + 1)
        if source.random() < 0.05:
            pool.forget(name)
            names[names.index(name)] = f"{name}'"
            granted[f"{name}'"] = in_flight[f"{name}'"] = in_flight[name] = 0
            continue
        waiting = source.randrange(10)
        demand = Demand(slots=max(granted[name], in_flight[name]), usable=in_flight[name] + waiting)
        granted[name] = pool.sync(name, "e", demand).slots
        in_flight[name] += max(0, min(waiting, granted[name] - in_flight[name]))
        assert sum(in_flight.values()) <= limit
