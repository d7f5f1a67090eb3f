"""Instances, contamination, the paper's experiments and the hard instances."""

import math
import pickle

import numpy as np
import pytest

from helpers.policies import generator
from helpers.refusals import refused
from stoic.core import CentralMoment, RawMoment, dumps, loads
from stoic.environments import (
    INSTANCES,
    Arm,
    Bernoulli,
    Discrete,
    Gaussian,
    Huber,
    Instance,
    Law,
    Pareto,
    Point,
    Source,
    StudentT,
    create,
    instances,
)
from stoic.errors import InvalidState

LOW, HIGH = Gaussian(0.0, 1.0), Gaussian(3.0, 2.0)


# --- Instances ----------------------------------------------------------------------------------


def test_an_instance_knows_its_means_and_gaps():
    three = Instance((LOW, HIGH, Bernoulli(0.5)))
    assert three.means.tolist() == [0.0, 3.0, 0.5]
    assert (three.size, three.best, three.gaps.tolist()) == (3, 1, [3.0, 0.0, 2.5])
    costs = Instance((LOW, HIGH, Bernoulli(0.5)), goal="min")
    assert (costs.best, costs.gaps.tolist()) == (0, [0.0, 3.0, 0.5])


def test_the_first_of_several_best_arms_counts():
    assert Instance((LOW, HIGH, HIGH)).best == 1


def test_moment_bounds_are_the_tightest_that_hold_for_every_arm():
    both = Instance((LOW, HIGH))
    assert both.raw(2) == RawMoment(2, 13)
    assert both.raw(4) == RawMoment(4, HIGH.raw_moment(4))
    assert both.central(2) == CentralMoment(2, 4, (0, 3))
    assert both.central(2, mean_range=(-1, 5)) == CentralMoment(2, 4, (-1, 5))
    assert both.contaminated(0.3, Point("inf")).central(2) == both.central(2)


def test_moment_bounds_that_do_not_hold_are_refused():
    heavy = Instance((LOW, StudentT(2.5, loc=1.0)))
    assert refused("k", heavy.raw, 2.5, saying="not so for arm 1")
    assert refused("k", heavy.central, 3)
    assert refused("mean_range", heavy.central, 2, (0.5, 2.0), saying="from 0 to 1")
    assert refused("mean_range", Instance((LOW, LOW)).central, 2)
    assert refused("k", heavy.raw, 0.5)


class Machine:
    """Pays, and has a mean, but does not know its moments."""

    mean = 0.25

    def sample(self, n, *, rng):
        return np.full(n, self.mean)


def test_an_arm_may_be_anything_with_a_mean_and_samples():
    mixed = Instance((LOW, Machine()))
    assert mixed.means.tolist() == [0.0, 0.25]
    assert refused("arms", mixed.raw, 2, saying="must be laws")
    assert refused("arms", mixed.contaminated, 0.1, LOW)
    assert refused("arms", Instance((Huber(LOW, 0.1, HIGH),)).contaminated, 0.1, LOW)
    with pytest.raises(InvalidState, match="Machine"):
        dumps(mixed)


@pytest.mark.parametrize(
    ("parameter", "arms", "options"),
    [
        ("arms", (), {}),
        ("arms", (1.0,), {}),
        ("arms", (LOW, Point(1.0)), {}),
        ("goal", (LOW,), {"goal": "best"}),
        ("name", (LOW,), {"name": 3}),
    ],
)
def test_what_is_no_instance_is_refused(parameter, arms, options):
    assert refused(parameter, Instance, arms, **options)


def test_a_mean_that_is_no_number_is_refused():
    machine = Machine()
    machine.mean = math.nan
    assert refused("mean", Instance, (machine,))


# --- Contamination ------------------------------------------------------------------------------


def test_contamination_changes_what_is_seen_and_not_what_counts():
    arm = Huber(HIGH, 0.2, Point(math.nan))
    assert isinstance(arm, Arm)
    assert not isinstance(arm, Law)  # its moments would be whose?
    assert arm.mean == 3.0
    assert 0 < np.isnan(arm.sample(1000, rng=generator(1))).sum() < 400
    assert not np.isnan(Huber(HIGH, 0.0, Point("nan")).sample(1000, rng=generator(1))).any()


def test_every_arm_may_have_a_contaminant_of_its_own():
    dirty = Instance((LOW, HIGH)).contaminated(0.25, [Point("-inf"), Bernoulli(0.5)])
    assert [arm.contaminant for arm in dirty.arms] == [Point(-math.inf), Bernoulli(0.5)]
    assert [arm.clean for arm in dirty.arms] == [LOW, HIGH]
    assert [arm.contaminant for arm in Instance((LOW, HIGH)).contaminated(0.1, HIGH).arms] == [
        HIGH,
        HIGH,
    ]
    assert refused("contaminant", Instance((LOW, HIGH)).contaminated, 0.1, [LOW])
    assert refused("contaminant", Instance((LOW,)).contaminated, 0.1, [3.0])


def test_outliers_are_drawn_by_their_own_law():
    arm = Huber(Discrete((0.0,), (1.0,)), 0.5, Discrete((7.0, 8.0), (0.5, 0.5)))
    assert set(arm.sample(200, rng=generator(1)).tolist()) == {0.0, 7.0, 8.0}


@pytest.mark.parametrize(
    ("parameter", "given"),
    [
        ("clean", (3.0, 0.1, LOW)),
        ("clean", (Point(3.0), 0.1, LOW)),
        ("clean", (Huber(LOW, 0.1, LOW), 0.1, LOW)),
        ("contaminant", (LOW, 0.1, None)),
        ("alpha", (LOW, 1.0, LOW)),
        ("alpha", (LOW, -0.1, LOW)),
        ("alpha", (LOW, math.nan, LOW)),
    ],
)
def test_what_is_no_contamination_is_refused(parameter, given):
    assert refused(parameter, Huber, *given)


@pytest.mark.parametrize("at", [math.nan, math.inf, -math.inf, 0.1 + 0.2, -3])
def test_a_point_goes_to_json_whatever_it_is(at):
    point = Point(at)
    assert isinstance(point, Source)
    assert loads(dumps(point)) == pickle.loads(pickle.dumps(point)) == point
    np.testing.assert_array_equal(point.sample(3, rng=generator(1)), np.full(3, float(at)))


@pytest.mark.parametrize("at", ["NaN", "infinity", None, True, [1.0], 10**400])
def test_what_is_no_point_is_refused(at):
    assert refused("at", Point, at)


# --- The paper's experiments --------------------------------------------------------------------


@pytest.mark.parametrize("family", ["student-t", "pareto"])
@pytest.mark.parametrize("alpha", [0.0, 0.02, 0.1])
def test_the_papers_instance(family, alpha):
    instance = create("paper", family=family, alpha=alpha)
    assert instance == instances.paper(family, alpha=alpha)
    assert instance.means.tolist() == [100.0, 75.0, 50.0, 25.0, 0.0]
    assert [arm.clean.central_moment(2) for arm in instance.arms] == pytest.approx([5.0] * 5)
    assert {arm.contaminant for arm in instance.arms} == {Gaussian(0.0, 50.0)}
    assert {arm.alpha for arm in instance.arms} == {alpha}
    central, raw = instance.central(2), instance.raw(2)
    assert (central.bound, central.mean_range) == (pytest.approx(5.0), (0.0, 100.0))
    assert raw.bound == pytest.approx(100**2 + 5) == central.as_raw().bound


def test_the_laws_of_the_papers_instance():
    pareto, student = (instances.paper(name).arms[1].clean for name in ("pareto", "student-t"))
    assert pareto == Pareto(shape=2.5, scale=1.5, shift=75 - 2.5)
    assert student == StudentT(df=2.5, loc=75.0)
    assert instances.paper("pareto").arms[0].alpha == 0.05
    assert refused("family", instances.paper, "gaussian", saying="student-t, pareto")
    assert refused("alpha", instances.paper, "pareto", alpha=1.0)


# --- Hard instances -----------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1.2, 2.0, 3.0])
@pytest.mark.parametrize(
    ("arms", "horizon", "epsilon"), [(2, 1, 1.0), (5, 1000, 0.1), (10, 10**6, 2.0)]
)
def test_the_private_hard_instance_is_that_of_the_proof(arms, horizon, epsilon, k):
    gamma = ((arms - 1) / (horizon * epsilon)) ** (1 / k)
    plain, changed = instances.hard_pair(arms, horizon=horizon, epsilon=epsilon, k=k)
    assert changed == instances.hard(arms, horizon=horizon, epsilon=epsilon, k=k, changed=1)
    for instance, second in ((plain, 0.3), (changed, 0.7)):
        shares = [0.5, second, *[0.3] * (arms - 2)]
        for law, share in zip(instance.arms, shares, strict=True):
            values, chances = law.atoms()
            assert values.tolist() == pytest.approx([1 / gamma, 0.0])
            assert chances[0] == pytest.approx(share * gamma**k)
            assert law.raw_moment(k) == pytest.approx(share)
        assert instance.means == pytest.approx([share * gamma ** (k - 1) for share in shares])
        assert np.sort(instance.gaps)[1] == pytest.approx(gamma ** (k - 1) / 5)
    assert (plain.best, changed.best) == (0, 1)
    assert plain.arms[0] == changed.arms[0]
    assert plain.arms[2:] == changed.arms[2:]


@pytest.mark.parametrize("k", [1.2, 2.0, 3.0])
@pytest.mark.parametrize("alpha", [1e-9, 0.05, 0.25, 0.5, 0.999])
def test_the_contaminated_hard_instances_are_observed_as_one(alpha, k):
    plain, changed = instances.hard_pair_contaminated(4, alpha=alpha, k=k)
    gamma = alpha ** (1 / k)
    laws = [observed(arm) for instance in (plain, changed) for arm in instance.arms]
    for law in laws:
        assert law == pytest.approx(laws[0], rel=1e-13)
        assert math.fsum(law) == pytest.approx(1, rel=1e-13)
    assert laws[0][0] == pytest.approx((1 - alpha) * 0.7 * gamma**k, rel=1e-13)
    assert (plain.best, changed.best) == (0, 1)
    assert np.sort(changed.gaps)[1] == pytest.approx(gamma ** (k - 1) / 5)
    assert plain.raw(k).bound == pytest.approx(0.5)
    assert changed.raw(k).bound == pytest.approx(0.7)


def test_without_their_contaminants_they_differ():
    plain, changed = instances.hard_pair_contaminated(2, alpha=0.25)
    clean = [arm.clean.atoms()[1][0] for arm in (*plain.arms, *changed.arms)]
    assert clean == pytest.approx([0.125, 0.075, 0.125, 0.175])


def observed(arm):
    """Probabilities of 1/gamma and 0 in (1 - alpha) r + alpha G."""
    (heights, clean), (others, garbage) = arm.clean.atoms(), arm.contaminant.atoms()
    assert heights.tolist() == others.tolist()
    assert (garbage >= 0).all()
    return ((1 - arm.alpha) * clean + arm.alpha * garbage).tolist()


@pytest.mark.parametrize(
    ("parameter", "given"),
    [
        ("horizon", {"arms": 5, "horizon": 39, "epsilon": 0.1}),
        ("horizon", {"arms": 5, "horizon": 0, "epsilon": 10.0}),
        ("arms", {"arms": 1, "horizon": 100, "epsilon": 1.0}),
        ("epsilon", {"arms": 2, "horizon": 100, "epsilon": 0.0}),
        ("k", {"arms": 2, "horizon": 100, "epsilon": 1.0, "k": 1.0}),
        ("changed", {"arms": 3, "horizon": 100, "epsilon": 1.0, "changed": 0}),
        ("changed", {"arms": 3, "horizon": 100, "epsilon": 1.0, "changed": 3}),
    ],
)
def test_the_private_hard_instance_needs_room(parameter, given):
    assert refused(parameter, instances.hard, **given)


def test_the_rule_says_how_long_a_horizon_must_be():
    assert refused(
        "horizon", instances.hard, 5, horizon=39, epsilon=0.1, saying="(arms - 1) / epsilon = 40"
    )
    assert instances.hard(5, horizon=40, epsilon=0.1).arms[0].raw_moment(2) == 0.5


@pytest.mark.parametrize(
    ("parameter", "given"),
    [
        ("alpha", {"arms": 2, "alpha": 0.0}),
        ("alpha", {"arms": 2, "alpha": 1.0}),
        ("alpha", {"arms": 2, "alpha": math.nan}),
        ("arms", {"arms": 1, "alpha": 0.1}),
        ("k", {"arms": 2, "alpha": 0.1, "k": 1}),
        ("changed", {"arms": 2, "alpha": 0.1, "changed": 2}),
    ],
)
def test_the_contaminated_hard_instance_needs_some_outliers_and_some_rewards(parameter, given):
    assert refused(parameter, instances.hard_contaminated, **given)


@pytest.mark.parametrize("k", [1.5, 2, 3])
@pytest.mark.parametrize("changed", [None, 1])
def test_a_widened_instance_has_the_moments_of_the_hard_one_and_larger_gaps(k, changed):
    hard, wide = (
        instances.hard(4, horizon=10**6, epsilon=0.1, k=k, widened=widened, changed=changed)
        for widened in (1, 7)
    )
    assert wide.gaps == pytest.approx(7 * hard.gaps)
    moments = [[law.raw_moment(k) for law in one.arms] for one in (wide, hard)]
    assert moments[0] == pytest.approx(moments[1])


def test_no_gap_is_widened_beyond_a_probability_of_one():
    room = {"horizon": 4_000, "epsilon": 0.1, "k": 2}
    assert instances.hard(5, **room, widened=10).arms[0].raw_moment(2) == pytest.approx(0.5)
    assert refused("widened", instances.hard, 5, **room, widened=10.1, saying="at most 10 at")
    assert refused("widened", instances.hard, 5, **room, widened=0.9)
    assert refused("widened", instances.hard, 5, **room, widened=1e300)


@pytest.mark.parametrize(("changed", "best", "gap"), [(None, 0, 0.06), (2, 2, 0.06)])
def test_the_sampling_instance_is_as_hard_as_chance_makes_it(changed, best, gap):
    found = instances.hard_sampling(10, horizon=10_000, widened=2, changed=changed)
    assert found.best == best
    assert np.sort(found.gaps)[1] == pytest.approx(gap)  # 2 sqrt(9 / 10,000)
    for law in found.arms:
        assert [law.raw_moment(k) for k in (1.5, 2, 4)] == pytest.approx([1, 1, 1])


def test_the_sampling_instance_needs_room():
    assert refused("horizon", instances.hard_sampling, 5, horizon=3, saying="at least 4")
    assert instances.hard_sampling(5, horizon=4).means[0] == 1
    assert refused("horizon", instances.hard_sampling, 5, horizon=15, changed=1, saying="least 16")
    assert refused("widened", instances.hard_sampling, 5, horizon=16, widened=2.1, saying="most 2")
    assert refused("changed", instances.hard_sampling, 5, horizon=400, changed=5)


# --- By name ------------------------------------------------------------------------------------


def test_instances_have_names():
    assert create("hard", arms=3, horizon=10, epsilon=1.0).name == "hard"
    assert create("hard-contaminated", arms=3, alpha=0.1, changed=2).name.endswith("changed-2")
    assert refused("instance", create, "soft", saying=", ".join(INSTANCES))
    assert refused("horizon", create, "hard", arms=3, epsilon=1.0, saying="must be given")
