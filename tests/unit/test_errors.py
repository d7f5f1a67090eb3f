import pytest

from stoic import errors


def test_one_root_catches_all():
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), errors.StoicError)


def test_a_refused_parameter_keeps_its_parts():
    error = errors.InvalidParameter("k", 1, "must be > 1")
    assert (error.parameter, error.value, error.rule) == ("k", 1, "must be > 1")
    assert str(error) == "k = 1: must be > 1"
    with pytest.raises(ValueError, match="k = 1"):
        raise error


def test_a_missing_extra_names_its_command():
    error = errors.MissingExtra("pyarrow", extra="data")
    assert str(error) == "pyarrow is not installed: pip install 'stoic-bandits[data]'"
    assert (error.package, error.extra) == ("pyarrow", "data")
