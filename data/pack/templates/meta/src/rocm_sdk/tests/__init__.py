"""Checks of an installation, run by `rocm-sdk test`."""
