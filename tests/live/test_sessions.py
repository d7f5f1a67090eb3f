"""What ask, tell, tick, disable and stop do, on both kinds of database."""

from __future__ import annotations

import json
import math
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import stoic
from helpers.live import Clock, Exact, database, worth
from stoic.errors import (
    InvalidParameter,
    InvalidReward,
    PrivacyViolation,
    StoreUnavailable,
    UnknownExperiment,
    UnknownTicket,
)
from stoic.live import LiveTicket, Ticker, queries
from stoic.live.replay import replay
from stoic.privacy.queries import GRID

pytestmark = pytest.mark.live

Make = Callable[..., Any]
DAY = 86_400.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make(url: str, clock: Clock) -> Iterator[Make]:
    """Creates experiments of small batches, in one database."""
    with ExitStack() as opened:
        db = opened.enter_context(database(url, clock=clock))

        def create(name: str = "shop", **changes: Any) -> Any:
            given = {
                "policy": "batches",
                "arms": ["A", "B", "C"],
                "horizon": 1000,
                "pulls": 4,
                "reward_deadline": "7d",
                "tick": "1h",
            }
            if "policy" in changes:
                del given["pulls"]
            return db.create(name, **{**given, **changes})

        create.db = db
        yield create


def fill(exp: Any, n: int = 12, reward: float | None = None, start: int = 0) -> list[LiveTicket]:
    tickets = exp.ask_many(f"user-{start + i}" for i in range(n))
    rewards = [worth(exp, t.token) if reward is None else reward for t in tickets]
    exp.tell_many(tickets, rewards)
    return list(tickets)


def released(exp: Any) -> dict[int, Any]:
    with exp._storage.reading() as connection:
        return queries.answers_of(connection, exp._id)


# --- Asking ---------------------------------------------------------------------------------------


def test_every_arm_gets_its_slots_in_an_order_of_blocks(make: Make) -> None:
    arms = [ticket.arm for ticket in fill(make())]
    assert Counter(arms) == {"A": 4, "B": 4, "C": 4}
    assert all(len(set(arms[at : at + 3])) == 3 for at in range(0, 12, 3))


def test_no_two_experiments_deal_in_the_same_order(make: Make) -> None:
    orders = {tuple(t.arm for t in fill(make(f"e{i}", pulls=30, horizon=90), 90)) for i in range(4)}
    assert len(orders) == 4


def test_a_unit_has_one_slot_and_one_ticket_for_ever(make: Make, clock: Clock) -> None:
    exp = make()
    first = exp.ask("ann")
    assert exp.ask("ann") == first
    assert exp.ask_many(["ann", "bob", "ann"])[::2] == [first, first]
    fill(exp, 10)
    clock.now += 8 * DAY
    assert exp.tick()
    assert exp.ask("ann") == first
    assert exp.summary().issued == 0


def test_units_of_two_experiments_have_nothing_in_common(make: Make) -> None:
    one, other = make("one"), make("other")
    assert one.ask("ann").token != other.ask("ann").token
    sealer = one._place.sealer
    assert sealer.unit(one._id, "ann") != sealer.unit(other._id, "ann")


def test_asks_beyond_the_plan_are_given_what_releases_say_and_count_for_nothing(
    make: Make, clock: Clock
) -> None:
    exp = make(pulls=4)
    fill(exp, 12, reward=None)
    best = max("ABC", key=lambda arm: 0)  # nothing is released yet: the first arm
    late = [exp.ask(f"late-{i}") for i in range(5)]
    assert {ticket.arm for ticket in late} == {best}
    exp.tell_many(late, np.full(5, 1e6))
    clock.now += 8 * DAY
    assert exp.tick()
    assert exp.summary().leader in {arm.name for arm in exp.summary().arms}
    assert all(abs(release.value) < 1 for (release,) in released(exp)[1].values())
    again = exp.ask("late-0")
    assert exp._place.sealer.unseal(again.token, experiment=exp._id).epoch == 2


@pytest.mark.parametrize("unit", ["", 17, None, b"ann"])
def test_a_unit_is_named_by_text_and_never_shown(make: Make, unit: Any) -> None:
    with pytest.raises(InvalidParameter, match="must be a text that names the unit"):
        make().ask(unit)


# --- Telling --------------------------------------------------------------------------------------


def test_the_first_reward_counts_and_all_are_acknowledged_alike(make: Make, clock: Clock) -> None:
    exp = make()
    tickets = fill(exp, 12, reward=0.5)
    assert [exp.tell(tickets[0], reward) for reward in (0.1, math.nan)] == [None, None]
    exp.tell_many(tickets, np.zeros(12))
    clock.now += 8 * DAY
    exp.tick()
    assert [release.value for (release,) in released(exp)[1].values()] == [0.5, 0.5, 0.5]
    assert exp.tell(tickets[0], 1.0) is None  # late
    assert len(released(exp)) == 1


def test_a_repeated_ticket_in_one_block_counts_once_with_its_first_reward(
    make: Make, clock: Clock
) -> None:
    exp = make()
    tickets = exp.ask_many(map(str, range(12)))
    exp.tell_many([*tickets, *tickets], [0.25] * 12 + [1.0] * 12)
    clock.now += 8 * DAY
    exp.tick()
    assert [release.value for (release,) in released(exp)[1].values()] == [0.25, 0.25, 0.25]


def test_garbage_is_bounded_when_it_arrives(make: Make, clock: Clock) -> None:
    exp = make(arms=["A", "B"], pulls=4)
    tickets = exp.ask_many(map(str, range(8)))
    garbage = {"A": [math.inf, 1e308, math.nan, 3.0], "B": [-math.inf, 0.5, -0.5, 10**400]}
    for ticket in tickets:
        exp.tell(ticket, garbage[ticket.arm].pop())
    clock.now += 8 * DAY
    exp.tick()
    assert [one.value for (one,) in released(exp)[1].values()] == [0.75, 0.0]


def forgeries(exp: Any, other: Any) -> Iterator[str]:
    token = exp.ask("ann").token
    yield other.ask("ann").token
    yield ("A" if token[0] != "A" else "B") + token[1:]
    yield token[:-4] + ("AAAA" if not token.endswith("AAAA") else "BBBB")
    yield token[:-4]
    yield token + "AAAA"
    yield ""
    yield "not base64 at all!"
    yield "\N{SNOWMAN}"


def test_forged_unknown_and_other_experiments_tickets_are_refused_alike(make: Make) -> None:
    exp, other = make(), make("other")
    said = set()
    for token in forgeries(exp, other):
        with pytest.raises(UnknownTicket) as caught:
            exp.tell_many([exp.ask("ann"), token], [0.5, 0.5])
        said.add(str(caught.value))
    assert said == {"this experiment never issued that ticket"}
    with exp._storage.reading() as connection:
        table = f"stoic_rewards_{exp._id:x}_1"
        assert connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar() == 0


def test_a_ticket_from_the_future_of_an_older_backup_is_unknown(make: Make) -> None:
    exp = make()
    token = exp._place.sealer.seal
    slot = exp._place.sealer.unseal(exp.ask("ann").token, experiment=exp._id)
    for future in (slot._replace(epoch=2), slot._replace(slot=11)):
        with pytest.raises(UnknownTicket):
            exp.tell(token(future), 0.5)


@pytest.mark.parametrize("reward", ["4711", None, True, [4711.0], 4711j])
def test_what_is_no_reward_is_refused_and_not_shown(make: Make, reward: Any) -> None:
    exp = make()
    with pytest.raises((InvalidReward, InvalidParameter)) as caught:
        exp.tell(exp.ask("ann"), reward)
    assert "4711" not in str(caught.value)


# --- Closing --------------------------------------------------------------------------------------


def test_an_epoch_is_over_at_a_tick_after_the_last_deadline_whatever_came_in(
    make: Make, clock: Clock
) -> None:
    exp = make()
    clock.now += 10
    fill(exp, 11)
    clock.now += 30 * DAY
    assert not exp.tick()  # one slot is still to be given out
    fill(exp, 1, start=11)
    assert not exp.tick()  # all rewards are in, and that changes nothing
    clock.now += 7 * DAY - 1
    assert not exp.tick()
    clock.now += 1
    assert not exp.tick()  # past the deadline, but not at a tick of the grid
    clock.now += 3600
    assert exp.tick()
    assert not exp.tick()


def test_missing_rewards_count_as_nothing_or_as_the_default(make: Make, clock: Clock) -> None:
    plain, given = make("plain"), make("given", reward_default=0.25)
    for exp in (plain, given):
        tickets = exp.ask_many(map(str, range(12)))
        told = [ticket for ticket in tickets if ticket.arm == "B"]
        exp.tell_many(told[:2], [0.5, 0.5])
    clock.now += 8 * DAY
    for exp, expected in ((plain, [0, 0.25, 0]), (given, [0.25, 0.375, 0.25])):
        assert exp.tick()
        assert [one.value for (one,) in released(exp)[1].values()] == expected
        assert {one.n for (one,) in released(exp)[1].values()} == {4}


def test_an_epochs_own_deadline_closes_it_with_what_was_issued(make: Make, clock: Clock) -> None:
    exp = make(epoch_deadline="10d", pulls=15)
    tickets = fill(exp, 7, reward=0.5)
    clock.now += 3 * DAY + 1
    beyond = exp.ask("late")  # its reward might not be in by the tenth day
    assert exp._place.sealer.unseal(beyond.token, experiment=exp._id).slot == -1
    clock.now += 7 * DAY - 3700
    assert not exp.tick()
    clock.now += 7200
    assert exp.tick()
    counts = Counter(ticket.arm for ticket in tickets)
    found = released(exp)[1]
    assert {exp.arms[arm]: one.n for arm, (one,) in found.items()} == counts
    assert {one.value for (one,) in found.values()} == {0.5}
    assert exp.summary().spent == 7
    assert same_as_replayed(exp)


def test_an_epoch_without_anybody_in_it_goes_on(make: Make, clock: Clock) -> None:
    exp = make(epoch_deadline="10d")
    clock.now += 11 * DAY
    assert not exp.tick()
    assert len(fill(exp)) == 12
    clock.now += 8 * DAY
    assert exp.tick()
    assert {one.n for (one,) in released(exp)[1].values()} == {4}


def test_too_few_slots_for_a_release_release_nothing(make: Make, clock: Clock) -> None:
    exp = make(epoch_deadline="10d")
    fill(exp, 2)
    clock.now += 11 * DAY
    assert exp.tick()
    assert released(exp) == {}
    assert exp.summary().spent == 2
    assert same_as_replayed(exp)


def test_clocks_may_jump(make: Make, clock: Clock) -> None:
    exp = make()
    fill(exp, 6)
    clock.now -= 400 * DAY
    assert not exp.tick()
    tickets = fill(exp, 6, start=6)
    assert len({ticket.token for ticket in tickets}) == 6
    assert not exp.tick()
    clock.now += 4000 * DAY
    assert exp.tick()
    assert not exp.tick()  # one epoch at a time: nobody was in the next
    clock.now -= 4000 * DAY
    fill(exp, 12, start=100)
    assert not exp.tick()
    assert all(one.n == 4 for (one,) in released(exp)[1].values())


def test_the_horizon_ends_it(make: Make, clock: Clock) -> None:
    exp = make(horizon=24)
    for start in (0, 12):
        fill(exp, 12, start=start)
        clock.now += 8 * DAY
        assert exp.tick()
    assert exp.summary().status == "finished"
    assert exp.ask("anybody").arm == exp.summary().leader
    assert not exp.tick()


# --- Operators ------------------------------------------------------------------------------------


def test_a_disabled_arm_is_given_to_nobody_at_once_and_keeps_its_n(
    make: Make, clock: Clock
) -> None:
    exp = make(pulls=15, reward_default=-1.0, horizon=90)
    fill(exp, 6, reward=0.5)
    exp.disable("B")
    exp.disable("B")
    after = fill(exp, 40, reward=0.5, start=6)
    slots = [exp._place.sealer.unseal(t.token, experiment=exp._id).slot for t in after]
    assert {t.arm for t, slot in zip(after, slots, strict=True) if slot >= 0} == {"A", "C"}
    assert sum(slot >= 0 for slot in slots) == 45 - 6 - 13
    assert all(ticket.arm != "B" for ticket in after)
    clock.now += 8 * DAY
    assert exp.tick()
    found = {exp.arms[arm]: one for arm, (one,) in released(exp)[1].items()}
    assert {name: one.n for name, one in found.items()} == {"A": 15, "B": 15, "C": 15}
    assert found["B"].value == pytest.approx((2 * 0.5 - 13) / 15)
    later = fill(exp, 60, start=100)
    assert {ticket.arm for ticket in later} == {"A", "C"}
    summary = exp.summary()
    assert [arm.status for arm in summary.arms] == ["in play", "disabled", "in play"]
    assert summary.effect.better != "B" != summary.effect.than
    assert same_as_replayed(exp)
    exp.disable("C")
    with pytest.raises(InvalidParameter, match="is the last one: stop the experiment instead"):
        exp.disable("A")
    with pytest.raises(InvalidParameter, match="must be one of A, B, C"):
        exp.disable("D")


def test_a_disabled_arm_is_never_recommended_even_if_it_was_the_last_in_play(
    make: Make, clock: Clock
) -> None:
    exp = make(policy="prae-s", moments=stoic.RawMoment(2, 1), epsilon=50.0)
    while exp.summary().winner is None:
        tickets = exp.ask_many(str(clock.now + i / 1e4) for i in range(500))
        exp.tell_many(tickets, [{"A": 0.9, "B": -0.9, "C": -0.5}[t.arm] for t in tickets])
        clock.now += 8 * DAY
        exp.tick()
    assert exp.summary().winner == "A"
    exp.disable("A")
    assert exp.summary().leader == "C"
    assert {ticket.arm for ticket in exp.ask_many(f"new-{i}" for i in range(20))} == {"C"}


def test_stopping_deletes_what_was_not_released(make: Make, clock: Clock) -> None:
    exp = make()
    tickets = fill(exp)
    exp.stop()
    exp.stop()
    clock.now += 100 * DAY
    assert not exp.tick()
    assert released(exp) == {}
    assert exp.summary().status == "stopped"
    assert exp.ask("user-3") == tickets[3]
    exp.tell(tickets[3], 1.0)
    assert exp.ask("new").arm == exp.summary().leader
    with exp._storage.reading() as connection:
        kinds = [kind for _, kind, _ in queries.happened(connection, exp._id)]
        assert not connection.dialect.has_table(connection, f"stoic_rewards_{exp._id:x}_1")
    assert kinds == ["opened", "stopped"]


def test_the_export_holds_every_assignment_with_its_propensity(make: Make, clock: Clock) -> None:
    exp = make(pulls=15)
    fill(exp, 5)
    exp.disable("A")
    fill(exp, 5, start=5)
    rows = [json.loads(json.dumps(row)) for row in exp.export()]
    assigned = [row for row in rows if row["row"] == "assignment"]
    assert [row["propensity"] for row in assigned] == [1 / 3] * 5 + [1 / 2] * 5
    assert [row["arm"] for row in assigned] == [exp.ask(f"user-{i}").arm for i in range(10)]
    assert "user-" not in json.dumps(rows)
    clock.now += 8 * DAY
    assert rows[0]["policy"]["kind"] == "Batches"


def test_the_privacy_statement_says_what_is_promised_and_what_it_cost(
    make: Make, clock: Clock
) -> None:
    exp = make(epsilon=0.5, reward_default=0.0)
    before = exp.privacy()
    assert (before.epsilon, before.spent, before.releases) == (0.5, 0.0, ())
    fill(exp)
    clock.now += 8 * DAY
    exp.tick()
    after = exp.privacy()
    assert (after.spent, len(after.releases), after.cost(4)) == (0.5, 3, 2.0)
    assert {one.n for one in after.releases} == {4}
    text = str(after)
    assert "pure 0.5-differential privacy" in text
    assert "NOT PRIVATE" in text  # it was drawn by a noise for tests
    assert "the declared default, 0" in text
    assert json.loads(json.dumps(after.as_dict()))["text"] == text


# --- The database ---------------------------------------------------------------------------------


def test_experiments_are_found_by_name(make: Make) -> None:
    exp = make("one")
    make("two")
    db = make.db
    assert db.list() == ["one", "two"]
    assert db.get("one").ask("ann") == exp.ask("ann")
    with pytest.raises(UnknownExperiment, match="'three': not in this database, which has one"):
        db.get("three")
    with pytest.raises(InvalidParameter, match="is taken by another experiment"):
        make("two")


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"policy": "ucb1", "moments": stoic.RawMoment(2, 1)}, "is not private"),
        ({"arms": ["A"]}, "two or more different names"),
        ({"arms": ["A", "A"]}, "two or more different names"),
        ({"arms": "AB"}, "two or more different names"),
        ({"name": " "}, "must be a text that is not empty"),
        ({"reward_deadline": "soon"}, "must be like"),
        ({"tick": 0}, "at least a millisecond"),
        ({"epoch_deadline": "7d"}, "must be longer than reward_deadline"),
        ({"reward_default": math.nan}, "must be a finite number"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_created(
    make: Make, changes: dict[str, Any], rule: str
) -> None:
    with pytest.raises(InvalidParameter, match=rule):
        make(**changes)
    assert make.db.list() == []


def test_a_second_release_of_the_same_rewards_is_impossible(make: Make, clock: Clock) -> None:
    from stoic.live import vault

    exp = make()
    fill(exp)
    clock.now += 8 * DAY
    exp.tick()
    answers = released(exp)[1]
    with (
        pytest.raises(PrivacyViolation, match="these rewards were already spent"),
        exp._storage.writing() as connection,
    ):
        vault.add_releases(connection, exp._id, 1, answers, at=0)
    assert released(exp)[1] == answers


def test_the_key_may_be_kept_elsewhere(url: str) -> None:
    key = bytes(range(32))
    with database(url, key=key) as db:
        exp = db.create("one", policy="uniform", arms=["A", "B"], horizon=10, reward_deadline="1d")
        ticket = exp.ask("ann")
    with database(url, key=key) as db:
        assert db.get("one").ask("ann") == ticket
    with pytest.raises(InvalidParameter, match="is not the one that this database was made with"):
        opened_and_closed(url, key=bytes(32))
    with pytest.raises(InvalidParameter, match="must be given"):
        opened_and_closed(url)
    with pytest.raises(InvalidParameter, match="at least 32 bytes"):
        opened_and_closed(url, key=b"short")


def opened_and_closed(url: str, **options: Any) -> None:
    from stoic.live import Database
    from stoic.live.database import Storage

    storage = Storage(url)
    try:
        Database(storage, noise=Exact(), **options)
    finally:
        storage.close()


def test_many_threads_and_two_handles_share_an_experiment(make: Make, clock: Clock) -> None:
    exp = make(pulls=40, horizon=240)
    handles = [exp, make.db.get("shop")]
    found: list[LiveTicket] = []

    def client(number: int) -> None:
        for user in range(10):
            ticket = handles[number % 2].ask(f"{number}-{user}")
            handles[(number + user) % 2].tell(ticket, 0.5)
            found.append(ticket)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({ticket.token for ticket in found}) == 120
    assert Counter(ticket.arm for ticket in found) == {"A": 40, "B": 40, "C": 40}
    clock.now += 8 * DAY
    assert [handle.tick() for handle in handles] == [True, False]
    assert {one.value for (one,) in released(exp)[1].values()} == {0.5}


def test_a_ticker_ticks_by_itself(url: str) -> None:
    with database(url) as db:
        exp = db.create(
            "one",
            policy="batches",
            arms=["A", "B"],
            horizon=100,
            pulls=2,
            reward_deadline="10ms",
            tick="10ms",
        )
        with Ticker(exp) as ticker:
            fill(exp, 4)
            pause = threading.Event()
            while not released(exp):
                pause.wait(0.01)
        assert ticker.trouble is None


def same_as_replayed(exp: Any) -> bool:
    replayed, stored = replay(exp._storage, exp._id)
    return bool(replayed == stored) and exp.summary().spent == stored.spent


def test_a_tampered_release_is_seen_by_the_replay(make: Make, clock: Clock) -> None:
    exp = make()
    fill(exp)
    clock.now += 8 * DAY
    exp.tick()
    assert same_as_replayed(exp)
    with exp._storage.writing() as connection:
        connection.exec_driver_sql("UPDATE stoic_releases SET value = 0.123 WHERE arm = 1")
    assert not same_as_replayed(exp)


def test_a_grid_step_is_what_is_kept(make: Make) -> None:
    exp = make()
    exp.tell(exp.ask("ann"), 0.5 + 0.2 / GRID)
    table = f"stoic_rewards_{exp._id:x}_1"
    with exp._storage.reading() as connection:
        assert connection.exec_driver_sql(f"SELECT kept FROM {table}").scalar() == GRID // 2


def test_the_summary_tells_winner_effect_and_intervals(make: Make, clock: Clock) -> None:
    exp = make(policy="prae-s", moments=stoic.RawMoment(2, 1), epsilon=50.0, horizon=50_000)
    assert exp.summary().winner is None
    assert exp.summary().effect is None
    paid = {"A": 0.5, "B": -0.5, "C": 0.75}
    asked = 0
    while exp.summary().winner is None:
        tickets = exp.ask_many(f"user-{asked + i}" for i in range(exp.summary().size))
        exp.tell_many(tickets, [paid[ticket.arm] for ticket in tickets])
        asked += len(tickets)
        clock.now += 8 * DAY
        exp.tick()
    summary = exp.summary()
    assert (summary.winner, summary.certified) == ("C", True)
    assert summary.interval_delta == 2 * exp.policy.delta  # both sides of every interval
    assert (summary.effect.better, summary.effect.than) == ("C", "A")
    arms = {arm.name: arm for arm in summary.arms}
    assert {name: arm.status for name, arm in arms.items()} == {
        "A": "left",
        "B": "left",
        "C": "in play",
    }
    for name, arm in arms.items():
        lo, hi = arm.interval
        assert lo < paid[name] < hi
        assert (lo + hi) / 2 == pytest.approx(arm.estimate)
    lo, hi = summary.effect.interval
    assert 0 < lo < 0.25 < hi
    assert hi - lo == pytest.approx(
        sum(arms[name].interval[1] - arms[name].interval[0] for name in "AC")
    )
    assert sum(arm.slots for arm in summary.arms) == asked + summary.issued
    assert "winner C" in str(summary)
    assert json.loads(json.dumps(summary.as_dict()))["winner"] == "C"


def test_a_winner_needs_somebody_to_win_against(make: Make) -> None:
    exp = make(arms=["A", "B"])
    exp.disable("A")
    assert exp.summary().winner is None
    assert exp.summary().leader == "B"


def test_a_ticker_goes_on_after_trouble_and_tells_of_anything_else(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    exp = make(tick="5ms")
    pause = threading.Event()
    errors: list[BaseException] = [StoreUnavailable("later"), StoreUnavailable("later")]
    ticks: list[int] = []

    def tick() -> bool:
        ticks.append(1)
        if errors:
            raise errors.pop()
        return False

    monkeypatch.setattr(exp, "tick", tick)
    with Ticker(exp) as ticker:
        while len(ticks) < 5:
            pause.wait(0.005)
    assert ticker.trouble is None
    errors.append(ZeroDivisionError())
    ticker = Ticker(exp)
    ticker.__enter__()
    while errors:
        pause.wait(0.005)
    with pytest.raises(ZeroDivisionError):
        ticker.close()
