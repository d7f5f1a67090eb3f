"""The only code that draws noise or opens raw rewards.

:mod:`~stoic.privacy.queries` bounds what one reward can change, :mod:`~stoic.privacy.secure` (or,
for simulations, :mod:`~stoic.privacy.simulated`) hides that change in noise,
:mod:`~stoic.privacy.ledger` lets every reward be spent once, and :mod:`~stoic.privacy.audit` looks
for lies. The argument is in ``docs/theory/privacy.md``.
"""
