"""Term <-> id: each term gets a dense number, so that facts are rows of integers."""

from tidelog.dictionary.dictionary import Dictionary

__all__ = ["Dictionary"]
