"""Containers of arrays: what is written is read again, and damage is noticed where arrays have checksums."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tidelog.errors import CorruptionError
from tidelog.kernel.array_file import (
    AnyArray,
    ArrayReader,
    ArrayWriter,
    map_arrays,
    pack,
    read_packed,
    unpack,
    write_packed,
)
from tidelog.kernel.rows import layout_for
from tidelog.kernel.run import Run

ARRAYS: list[AnyArray] = [np.arange(5, dtype=np.int32), np.empty(0, dtype=np.uint8), np.arange(100, dtype=np.uint64)]


@pytest.mark.parametrize("shift", range(9))
def test_packed_arrays_come_back_from_any_address(shift: int) -> None:
    block = memoryview(bytes(shift) + pack(["a", 1], ARRAYS))[shift:]
    header, arrays = unpack(block)
    assert header == ["a", 1]
    assert [a.dtype for a in arrays] == [a.dtype for a in ARRAYS]
    assert all((a == b).all() and not a.ctypes.data % 4 for a, b in zip(arrays, ARRAYS, strict=True) if len(a))


def test_packed_files_have_names_of_their_own(tmp_path: Path) -> None:
    one, other = (write_packed(tmp_path, None, ARRAYS) for _ in range(2))
    assert one != other
    assert [a.tolist() for a in read_packed(one)[1]] == [a.tolist() for a in ARRAYS]


def test_a_run_comes_back_in_its_orders(tmp_path: Path) -> None:
    run = Run.of(layout_for(2, 100), [np.array([1, 2, 3]), np.array([9, 8, 7])], 3)
    writer = ArrayWriter()
    writer.write(tmp_path / "run", writer.add_run(run, [(0, 1), (1, 0)]))
    reader = map_arrays(tmp_path / "run")
    again = reader.run(*reader.header)
    for order in ((0, 1), (1, 0)):
        assert (again.in_order(order) == run.in_order(order)).all()


def test_damage_is_noticed() -> None:
    writer = ArrayWriter(checked=True)
    place = writer.add(ARRAYS[2])
    block = bytearray(b"".join(writer.buffers(place)))
    assert ArrayReader(bytes(block)).ends_with(place)
    block[-100] ^= 1
    with pytest.raises(CorruptionError):
        ArrayReader(bytes(block)).array(place, np.uint64)
    block[30] ^= 1
    for damaged in (bytes(block), b"", b"tidelog2" + bytes(40)):
        with pytest.raises(CorruptionError):
            ArrayReader(damaged)
