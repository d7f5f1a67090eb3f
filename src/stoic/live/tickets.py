"""Tickets and pseudonyms: what a key turns slots and units into.

A ticket says which slot of which epoch a reward belongs to. It is sealed: encrypted and signed with
one key (the synthetic-IV construction over HMAC-SHA256), so that it can be verified without a
look-up, cannot be forged, and tells its bearer nothing, not even whether it counts. The same slot
always has the same ticket. A unit is kept as a keyed hash only, a different one in every
experiment.
"""

from __future__ import annotations

import binascii
import hmac
import struct
from typing import NamedTuple

from stoic.errors import InvalidParameter, UnknownTicket

__all__ = ["BEYOND", "LiveTicket", "Sealer", "Slot"]

BEYOND = -1  # the slot of a ticket that is not part of the plan

_PARTS = struct.Struct(">QQqH")
_TAG = 16
_TO_URL = bytes.maketrans(b"+/", b"-_")
_TO_BASE64 = bytes.maketrans(b"-_+/", b"+/!!")  # one way to write a token
_UNKNOWN = "this experiment never issued that ticket"


class Slot(NamedTuple):
    """Where a ticket's reward belongs: the experiment, the epoch, the slot, and the slot's arm.

    >>> Slot(experiment=5, epoch=1, slot=7, arm=2).arm
    2
    """

    experiment: int
    epoch: int
    slot: int
    arm: int


class LiveTicket(NamedTuple):
    """What a unit gets: an arm, by its name, and the token with which its reward is told.

    The token may be stored and sent; ``str(ticket)`` is the token. It is a secret of the unit's:
    whoever has it may tell the reward.

    >>> ticket = LiveTicket("B", "Vx0w")
    >>> ticket, str(ticket)
    (<LiveTicket for B>, 'Vx0w')
    """

    arm: str
    token: str

    def __repr__(self) -> str:
        return f"<LiveTicket for {self.arm}>"

    def __str__(self) -> str:
        return self.token


class Sealer:
    """Seals slots into tokens, opens them again, and hashes units.

    >>> sealer = Sealer(b"k" * 32)
    >>> token = sealer.seal(Slot(5, 1, 7, 2))
    >>> sealer.unseal(token, experiment=5)
    Slot(experiment=5, epoch=1, slot=7, arm=2)
    >>> sealer.unseal(token, experiment=6)
    Traceback (most recent call last):
        ...
    stoic.errors.UnknownTicket: this experiment never issued that ticket
    """

    def __init__(self, key: bytes) -> None:
        if not isinstance(key, bytes) or len(key) < 32:
            raise InvalidParameter("key", "...", "must be at least 32 bytes")
        self._sign, self._hide, self._name, self.check = (
            hmac.digest(key, b"stoic live " + use, "sha256")
            for use in (b"sign", b"hide", b"name", b"check")
        )

    def seal(self, slot: Slot) -> str:
        """The token of a slot."""
        plain = _PARTS.pack(*slot)
        tag = hmac.digest(self._sign, plain, "sha256")[:_TAG]
        sealed = binascii.b2a_base64(tag + self._mask(tag, plain), newline=False)
        return sealed.translate(_TO_URL).decode()

    def unseal(self, token: str, *, experiment: int) -> Slot:
        """The slot of a token of this experiment, or :class:`~stoic.errors.UnknownTicket`."""
        try:
            sealed = binascii.a2b_base64(
                token.encode("ascii").translate(_TO_BASE64), strict_mode=True
            )
        except (AttributeError, ValueError):  # binascii.Error and UnicodeEncodeError among them
            raise UnknownTicket(_UNKNOWN) from None
        tag, hidden = sealed[:_TAG], sealed[_TAG:]
        if len(hidden) == _PARTS.size:
            plain = self._mask(tag, hidden)
            expected = hmac.digest(self._sign, plain, "sha256")[:_TAG]
            slot = Slot._make(_PARTS.unpack(plain))
            if hmac.compare_digest(tag, expected) and slot.experiment == experiment:
                return slot
        raise UnknownTicket(_UNKNOWN)

    def unit(self, experiment: int, unit: str) -> bytes:
        """The pseudonym of a unit in an experiment."""
        if not isinstance(unit, str) or not unit:
            rule = f"must be a text that names the unit, not {type(unit).__name__!r} or empty"
            raise InvalidParameter("unit", "...", rule)
        text = experiment.to_bytes(8) + unit.encode("utf-8", "surrogatepass")
        return hmac.digest(self._name, text, "sha256")[:16]

    def _mask(self, tag: bytes, text: bytes) -> bytes:
        stream = hmac.digest(self._hide, tag, "sha256")[: _PARTS.size]
        return (int.from_bytes(text) ^ int.from_bytes(stream)).to_bytes(_PARTS.size)
