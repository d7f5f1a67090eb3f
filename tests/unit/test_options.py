import pytest

from stoic import options
from stoic.core import Contamination, PrivacyBudget
from stoic.errors import InvalidParameter


def paint(colour, coats=1):
    return colour, coats


FACTORIES = {"paint": paint, "budget": options.as_budget}


def test_a_factory_is_called_by_name_with_its_options():
    assert options.of(paint) == ("colour", "coats")
    assert options.make("job", "paint", FACTORIES, {"colour": "red"}) == ("red", 1)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("polish", {}, "job = 'polish': must be one of paint, budget"),
        ("paint", {}, "colour = None: must be given for job 'paint'"),
        (
            "paint",
            {"colour": "red", "size": 3},
            "size = 3: not an option of job 'paint', which takes colour, coats",
        ),
    ],
)
def test_a_wrong_name_or_option_is_named(name, given, message):
    with pytest.raises(InvalidParameter) as caught:
        options.make("job", name, FACTORIES, given)
    assert str(caught.value) == message


def test_numbers_are_short_for_values():
    assert options.as_budget(0.5) == options.as_budget(PrivacyBudget(0.5)) == PrivacyBudget(0.5)
    short, long = options.as_contamination(0.1), options.as_contamination(Contamination(0.1))
    assert short == long == Contamination(0.1)


def test_refusals_name_the_option_that_the_caller_gave():
    with pytest.raises(InvalidParameter, match="contamination = 2"):
        options.as_contamination(2)
    with pytest.raises(InvalidParameter, match="epsilon = 0"):
        options.as_budget(0)
