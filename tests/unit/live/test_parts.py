"""Dealing, sealing and the words for durations: what needs no database."""

from __future__ import annotations

import datetime
from collections import Counter

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from helpers.goodness import fits, same_law
from stoic.core import Plan
from stoic.errors import InvalidParameter, StoreUnavailable, UnknownTicket
from stoic.live import clock, database
from stoic.live.slots import Dealer
from stoic.live.tickets import LiveTicket, Sealer, Slot
from stoic.privacy.queries import ClippedMean, Histogram, RecentredMean

QUERY = ClippedMean(0.0, 1.0, 1.0)
TWO_FOLDS = RecentredMean(Histogram(0.0, 1.0, 3, 1.0), 2.0)


def dealer(arms: int = 3, size: int = 100, key: bytes = b"key", query: object = QUERY) -> Dealer:
    pulls = tuple(size // arms + (place < size % arms) for place in range(arms))
    return Dealer(Plan(tuple(range(arms)), pulls, (query,) * arms), key)


# --- Dealing --------------------------------------------------------------------------------------


@given(arms=st.integers(1, 7), size=st.integers(7, 30_000), cut=st.floats(0, 1))
def test_every_turn_is_a_permutation_and_the_plan_is_dealt_exactly(arms, size, cut) -> None:
    found = dealer(arms, size)
    places = found.places(0, size)
    turns = places[: size // arms * arms].reshape(-1, arms)
    assert (np.sort(turns, axis=1) == np.arange(arms)).all()
    assert (
        found.counts(size) == np.bincount(places, minlength=arms).tolist() == list(found.plan.pulls)
    )
    issued = int(cut * size)
    assert found.counts(issued) == np.bincount(places[:issued], minlength=arms).tolist()
    at = issued // 2
    assert found.places(at, issued).tolist() == places[at:issued].tolist()
    dealt = found.dealt(issued)
    assert dealt.size == issued
    assert dict(zip(dealt.arms, dealt.pulls, strict=True)) == dict(enumerate(found.counts(issued)))


@given(size=st.integers(6, 3000), barred=st.sets(st.integers(0, 4), max_size=5), data=st.data())
def test_slots_of_barred_arms_are_passed_over(size, barred, data) -> None:
    found, issued, slots = dealer(5, size), 0, []
    while issued < size:
        n = data.draw(st.integers(1, 900))
        taken, arms, issued = found.take(issued, n, barred)
        assert taken.size == arms.size <= n
        assert not set(arms.tolist()) & barred
        slots += taken.tolist()
    allowed = [slot for slot, arm in enumerate(found.places(0, size)) if arm not in barred]
    assert slots == allowed
    assert found.take(size, 3, barred)[2] == size


def test_a_plan_of_barred_arms_is_over_however_long_it_is() -> None:
    assert dealer(1, 10**12).take(0, 1, {0})[2] == 10**12


def test_an_arms_folds_alternate_whoever_comes_first() -> None:
    found = dealer(3, 60, query=TWO_FOLDS)
    slots, places = np.arange(60), found.places(0, 60)
    for place in range(3):
        assert found.fold(slots[places == place], 2).tolist() == [0, 1] * 10


def test_too_few_slots_for_every_fold_ask_nothing() -> None:
    assert dealer(3, 60, query=TWO_FOLDS).dealt(6).queries
    assert not dealer(3, 60, query=TWO_FOLDS).dealt(5).queries


def test_a_shuffled_plan_keeps_its_own_order() -> None:
    plan = Plan((0, 1), (5, 3), shuffle=7)
    found = Dealer(plan, b"key")
    assert found.places(2, 6).tolist() == plan.deal(2, 6).tolist()
    assert sum(found.counts(4)) == found.dealt(4).size == 4


def test_orders_are_uniform_and_differ_between_keys() -> None:
    orders = {(0, 1, 2): 0, (0, 2, 1): 1, (1, 0, 2): 2, (1, 2, 0): 3, (2, 0, 1): 4, (2, 1, 0): 5}

    def counts(found: Dealer) -> np.ndarray:
        turns = found.places(0, 60_000).reshape(-1, 3)
        return np.bincount([orders[tuple(turn)] for turn in turns.tolist()], minlength=6)

    one, other = (counts(dealer(3, 60_000, key)) for key in (b"one", b"other"))
    assert fits(one, np.full(6, 1 / 6), alarm=1e-9)
    assert same_law(one, other, alarm=1e-9)
    assert not fits(one + np.arange(6) * 200, np.full(6, 1 / 6), alarm=1e-9)
    assert dealer(3, 300, b"one").places(0, 300).tolist() != (
        dealer(3, 300, b"other").places(0, 300).tolist()
    )


def test_the_order_is_the_same_in_every_version() -> None:
    # Slots that were dealt must keep their arms: no generator of a library has a say.
    assert dealer(4, 16, b"key").places(0, 16).tolist() == [
        1, 2, 0, 3, 3, 0, 1, 2, 1, 3, 0, 2, 2, 1, 3, 0,
    ]  # fmt: skip


# --- Sealing --------------------------------------------------------------------------------------

SLOTS = st.builds(
    Slot,
    experiment=st.integers(0, 2**62),
    epoch=st.integers(0, 2**40),
    slot=st.integers(-1, 2**62),
    arm=st.integers(0, 65_535),
)


@given(slot=SLOTS)
def test_what_is_sealed_is_unsealed_with_the_same_key_only(slot) -> None:
    token = Sealer(b"k" * 32).seal(slot)
    assert Sealer(b"k" * 32).unseal(token, experiment=slot.experiment) == slot
    assert token == Sealer(b"k" * 32).seal(slot)
    for key, experiment in ((b"l" * 32, slot.experiment), (b"k" * 32, slot.experiment + 1)):
        with pytest.raises(UnknownTicket):
            Sealer(key).unseal(token, experiment=experiment)


@given(slot=SLOTS, at=st.integers(0, 55), bit=st.integers(0, 7), data=st.data())
def test_a_token_with_one_character_changed_is_unknown(slot, at, bit, data) -> None:
    token = Sealer(b"k" * 32).seal(slot)
    other = data.draw(st.characters(max_codepoint=0x2FF).filter(lambda c: c != token[at]))
    changed = token[:at] + other + token[at + 1 :]
    with pytest.raises(UnknownTicket):
        Sealer(b"k" * 32).unseal(changed, experiment=slot.experiment)


def test_tokens_show_nothing_of_their_slots() -> None:
    sealer = Sealer(b"k" * 32)
    tokens = [sealer.seal(Slot(5, 1, slot, slot % 3)) for slot in range(-1, 20_000)]
    assert len(set(tokens)) == len(tokens)
    assert {len(token) for token in tokens} == {56}
    for at in range(0, 56, 11):  # each character is as good as uniform
        counted = Counter(token[at] for token in tokens)
        assert fits([*counted.values()], np.full(64, 1 / 64), alarm=1e-9)


def test_a_ticket_is_not_shown_by_accident() -> None:
    ticket = LiveTicket("B", "secret-token")
    assert "secret" not in repr(ticket)
    assert "secret" not in repr([ticket])


# --- Durations, addresses -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "length"),
    [
        ("250ms", 250),
        ("1.5h", 5_400_000),
        (" 7d ", 604_800_000),
        ("2 w", 1_209_600_000),
        (0.5, 500),
        (datetime.timedelta(minutes=3), 180_000),
    ],
)
def test_durations(given, length) -> None:
    assert clock.duration("tick", given) == length


@pytest.mark.parametrize(
    "given", ["", "7", "d", "7 days", "-1h", 0, -1, "0s", "101000d", None, [1]]
)
def test_what_is_no_duration_is_refused(given) -> None:
    with pytest.raises(InvalidParameter, match="tick = "):
        clock.duration("tick", given)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://a/b", "nonsense", 7])
def test_a_database_that_would_lose_things_is_refused(url) -> None:
    with pytest.raises(InvalidParameter, match="must be sqlite:///FILE or postgresql://"):
        database.Storage(url)


def test_a_password_is_not_shown() -> None:
    with pytest.raises(InvalidParameter) as caught:
        database.Storage("mysql://me:hunter2@host/shop")
    assert "hunter2" not in str(caught.value)


def test_a_folder_that_is_not_there_is_out_of_reach(tmp_path) -> None:
    storage = database.Storage(f"sqlite:///{tmp_path}/nowhere/live.db")
    with pytest.raises(StoreUnavailable, match="is out of reach"), storage.writing():
        pass
    storage.close()


def test_whoever_waits_too_long_is_told_that_it_is_busy(tmp_path) -> None:
    url = f"sqlite:///{tmp_path}/live.db"
    one, other = database.Storage(url), database.Storage(url, patience=0.1)
    with (
        one.writing(),
        pytest.raises(StoreUnavailable, match="is busy with other writers"),
        other.writing(),
    ):
        pass
    one.close()
    other.close()
