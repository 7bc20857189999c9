"""The dictionary against a plain dict, with good and with deliberately bad hashes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidelog import tuning
from tidelog.dictionary import Dictionary
from tidelog.dictionary.arena import LONG, Hashing, hash_many, hash_one
from tidelog.dictionary.dictionary import MAX_TERMS
from tidelog.errors import LimitError
from tidelog.model.terms import Term


def weak(bits: int) -> Hashing:
    """A hash with so few values that almost everything collides."""
    mask = ((1 << bits) - 1) << (64 - bits)
    return Hashing(lambda term: hash_one(term) & mask, lambda terms: hash_many(terms) & np.uint64(mask))


HASHINGS: dict[str, Callable[[], Hashing]] = {
    "good": Hashing,
    "8 bits": lambda: weak(8),
    "1 bit": lambda: weak(1),
    "constant": lambda: Hashing(lambda _: 2**64 - 1, lambda terms: np.full(len(terms), 2**64 - 1, dtype=np.uint64)),
}


def binary(terms: list[str], kind: pa.DataType | None = None) -> pa.Array:
    return pa.array([t.encode() for t in terms], kind or pa.binary())


def lubm(count: int) -> list[str]:
    return [f"<http://www.Department{i % 15}.University{i % 97}.edu/GradStudent{i}>" for i in range(count)]


@pytest.mark.parametrize("hashing", HASHINGS)
@pytest.mark.parametrize("seed", range(3))
def test_against_a_dict(hashing: str, seed: int) -> None:
    random, dictionary, expected = Random(seed), Dictionary(HASHINGS[hashing]()), dict[str, int]()
    for _ in range(40):
        terms = [f'"{random.randrange(400)}é"' for _ in range(random.randrange(60))]
        if random.random() < 0.5:
            distinct = list(dict.fromkeys(terms))
            ids = dictionary.encode_many(binary(distinct)).tolist()
            assert ids == [expected.setdefault(t, len(expected)) for t in distinct]
        else:
            for term in terms:
                assert dictionary.encode(Term(term)) == expected.setdefault(term, len(expected))
        check(dictionary, expected, random)


def check(dictionary: Dictionary, expected: dict[str, int], random: Random) -> None:
    assert len(dictionary) == len(expected)
    asked = random.choices([*expected, '"none"', '""'], k=20)
    assert [dictionary.lookup(Term(t)) for t in asked] == [expected.get(t) for t in asked]
    assert dictionary.lookup_many(binary(asked)).tolist() == [expected.get(t, -1) for t in asked]
    if expected:
        ids = np.array(random.choices(range(len(expected)), k=20), dtype=np.int32)
        texts = list(expected)
        assert dictionary.decode_many(ids) == [texts[i] for i in ids] == [dictionary.decode(int(i)) for i in ids]
        assert dictionary.decode_array(ids).to_pylist() == [texts[i].encode() for i in ids]


@given(st.lists(st.binary(max_size=LONG + 40), max_size=30))
def test_one_hash_for_one_and_for_many(terms: list[bytes]) -> None:
    assert hash_many(pa.array(terms, pa.binary())).tolist() == [hash_one(t) for t in terms]


def test_every_length_and_every_byte_counts() -> None:
    terms = [b"a" * n for n in range(LONG + 20)]
    terms += [b"a" * n + b"b" + b"a" * (LONG - n) for n in range(LONG)]
    terms += [b"\0" * n for n in range(1, 40)]
    hashes = hash_many(pa.array(terms, pa.binary()))
    assert len(set(hashes.tolist())) == len(terms)
    assert hashes.tolist() == [hash_one(t) for t in terms]


def test_hashes_never_change() -> None:
    """Stored dictionaries and other machines rely on these very values."""
    assert [hash_one(t) for t in (b"", b"<ann>", b"x" * 100, b"y" * 1000)] == [
        0,
        12537965368828566013,
        11304901857644146506,
        9367488799778399466,
    ]


def test_slices_and_large_arrays() -> None:
    terms = lubm(100)
    one, other = Dictionary(), Dictionary()
    one.encode_many(binary(terms).slice(10, 50))
    other.encode_many(binary(terms, pa.large_binary()).slice(10, 50))
    assert one.decode_many(range(50)) == other.decode_many(range(50)) == terms[10:60]
    assert len(one.encode_many(binary([]))) == 0
    assert one.decode_many([]) == []


def test_repeated_terms_get_one_id() -> None:
    dictionary = Dictionary()
    assert dictionary.encode_many(binary(["<a>", "<b>", "<a>", "<b>", "<c>"])).tolist() == [0, 1, 0, 1, 2]
    assert len(dictionary) == 3


def test_unknown_ids_are_refused() -> None:
    dictionary = Dictionary()
    dictionary.encode(Term("<a>"))
    for id_ in (-1, 1, 99):
        with pytest.raises(IndexError):
            dictionary.decode(id_)


def test_memory() -> None:
    """At every size at most 90 bytes for a term of about 55 characters."""
    dictionary, terms = Dictionary(), lubm(200_000)
    for start in range(0, len(terms), 7919):
        dictionary.encode_many(binary(terms[start : start + 7919]))
        assert dictionary.nbytes <= 90 * len(dictionary) + 10_000


def test_texts_are_copied_a_few_times_only(monkeypatch: pytest.MonkeyPatch) -> None:
    copied = 0
    concat = pa.concat_arrays

    def counting(arrays: list[pa.Array]) -> pa.Array:
        nonlocal copied
        copied += sum(len(a) for a in arrays)
        return concat(arrays)

    monkeypatch.setattr("tidelog.dictionary.arena.pa.concat_arrays", counting)
    dictionary, count = Dictionary(), 200 * 1024
    for term in lubm(count):
        dictionary.encode(Term(term))
    assert copied < 10 * count  # log2(200) is 7.6


def test_chunks_have_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "TERM_CHUNK_BYTES", 1 << 14)
    dictionary, terms = Dictionary(), lubm(5000)
    dictionary.encode_many(binary(terms[:4000]))
    for term in terms[4000:]:
        dictionary.encode(Term(term))
    assert dictionary.decode_many(np.arange(5000)[::-1]) == terms[::-1]
    assert dictionary.lookup_many(binary(terms)).tolist() == list(range(5000))


def test_readers_and_writers_together() -> None:
    dictionary, terms, problems = Dictionary(), lubm(20_000), list[str]()
    dictionary.encode(Term(terms[0]))

    def write(part: list[str]) -> None:
        for start in range(0, len(part), 500):
            dictionary.encode_many(binary(part[start : start + 250]))
            for term in part[start + 250 : start + 500]:
                dictionary.encode(Term(term))

    def read(seed: int) -> None:
        random = Random(seed)
        for _ in range(5000):
            term = random.choice(terms)
            id_ = dictionary.lookup(Term(term))
            if id_ is not None and dictionary.decode(id_) != term:
                problems.append(term)

    threads = [threading.Thread(target=write, args=(part,)) for part in (terms[:12_000], terms[8_000:])]
    threads += [threading.Thread(target=read, args=(seed,)) for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert len(dictionary) == len(terms)
    assert sorted(dictionary.decode_many(range(len(terms)))) == sorted(terms)


def test_a_full_dictionary_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidelog.dictionary.dictionary.MAX_TERMS", 3)
    dictionary = Dictionary()
    dictionary.encode_many(binary(["<a>", "<b>"]))
    with pytest.raises(LimitError, match="the dictionary is full: 4 terms, at most 3 are possible"):
        dictionary.encode_many(binary(["<c>", "<d>"]))
    assert len(dictionary) == 2
    assert dictionary.lookup(Term("<c>")) is None
    assert MAX_TERMS < 2**31
