"""Term <-> id: every term gets a dense number, so that facts are rows of integers."""

from tidelog.dictionary.dictionary import Dictionary

__all__ = ["Dictionary"]
