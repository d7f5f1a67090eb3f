"""Whether a wrong parameter is refused as it should be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stoic.errors import InvalidParameter

__all__ = ["refused"]


def refused(
    parameter: str, build: Callable[..., Any], *arguments: Any, saying: str = "", **options: Any
) -> bool:
    """Whether this is refused with an error that names the parameter and states the rule."""
    with pytest.raises(InvalidParameter) as caught:
        build(*arguments, **options)
    error = caught.value
    known = error.parameter == parameter and bool(error.rule) and error.rule in str(error)
    return known and saying in str(error)
