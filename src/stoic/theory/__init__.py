"""Bounds, rates, radii and thresholds: pure functions of public numbers."""
