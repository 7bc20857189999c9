"""Ways in which files get damaged: flipped bits, cut, grown, zeroed, swapped, exchanged, outdated and lost."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

FOLDERS = ("runs", "dictionary", "cache", "pins")
TRIFLES = ("pins", "lock", "acknowledged", "catalog.sqlite-shm")

Damage = Callable[[random.Random, list[Path], Path], str]  # does it, and says what it did


def damage(seed: object, store: Path, earlier: Path) -> str:
    """Damage one or two files of a store; `earlier` is a copy of it as it once was."""
    chance = random.Random(repr(seed))
    files = sorted(p for p in store.rglob("*") if p.is_file())
    weights = list(WAYS.values())
    (way,) = chance.choices(list(WAYS), weights)
    return way(chance, files, earlier / store.name)


def _flip(chance: random.Random, files: list[Path], earlier: Path) -> str:
    file, content = _some(chance, files)
    places = [chance.randrange(8 * len(content)) for _ in range(chance.choice((1, 1, 1, 2, 20)))]
    for place in places:
        content[place // 8] ^= 1 << place % 8
    file.write_bytes(content)
    return f"bits {places} of {file.name} flipped"


def _cut(chance: random.Random, files: list[Path], earlier: Path) -> str:
    file, content = _some(chance, files)
    length = chance.choice((0, len(content) - 1, chance.randrange(len(content)), len(content) // 512 * 512))
    file.write_bytes(content[:length])
    return f"{file.name} cut from {len(content)} to {length} bytes"


def _grow(chance: random.Random, files: list[Path], earlier: Path) -> str:
    file, content = _some(chance, files)
    more = chance.randbytes(chance.choice((1, 512, 4096)))
    file.write_bytes(content + more)
    return f"{len(more)} bytes added to {file.name}"


def _overwrite(chance: random.Random, files: list[Path], earlier: Path) -> str:
    file, content = _some(chance, files)
    length = min(len(content), chance.choice((4, 64, 512, 4096)))
    start = chance.randrange(len(content) - length + 1)
    content[start : start + length] = bytes(length) if chance.random() < 0.5 else chance.randbytes(length)
    file.write_bytes(content)
    return f"bytes {start} to {start + length} of {file.name} overwritten"


def _swap_blocks(chance: random.Random, files: list[Path], earlier: Path) -> str:
    file, content = _some(chance, files)
    size = max(1, min(len(content) // 2, chance.choice((8, 64, 512, 4096))))
    a, b = (chance.randrange(max(1, len(content) // size)) * size for _ in range(2))
    content[a : a + size], content[b : b + size] = content[b : b + size], content[a : a + size]
    file.write_bytes(content)
    return f"the {size} bytes at {a} and {b} of {file.name} swapped"


def _swap_files(chance: random.Random, files: list[Path], earlier: Path) -> str:
    one, other = _one(chance, files), chance.choice(files)
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)
    return f"{one.name} and {other.name} swapped"


def _copy(chance: random.Random, files: list[Path], earlier: Path) -> str:
    one, other = _one(chance, files), chance.choice(files)
    one.write_bytes(other.read_bytes())
    return f"{one.name} replaced by {other.name}"


def _outdate(chance: random.Random, files: list[Path], earlier: Path) -> str:
    """One file as it was earlier, as after a wrong restore."""
    file = chance.choice(sorted(p for p in earlier.rglob("*") if p.is_file()))
    target = _store(files[0], earlier) / file.relative_to(earlier)
    target.parent.mkdir(exist_ok=True)
    shutil.copyfile(file, target)
    return f"{file.name} is that of an earlier time"


def _mistake(chance: random.Random, files: list[Path], earlier: Path) -> str:
    """A file replaced by one that was once in the same folder, whole but not the right one."""
    file = _one(chance, files)
    folder = earlier.joinpath(*file.relative_to(_store(file, earlier)).parts[:-1])
    others = sorted(p for p in folder.iterdir() if p.is_file()) if folder.is_dir() else []
    if not others:
        return _lose(chance, files, earlier)
    other = chance.choice(others)
    shutil.copyfile(other, file)
    return f"{file.name} replaced by the {other.name} of an earlier time"


def _store(file: Path, earlier: Path) -> Path:
    return next(p for p in file.parents if p.name == earlier.name)


def _lose(chance: random.Random, files: list[Path], earlier: Path) -> str:
    file = _one(chance, files)
    file.unlink()
    return f"{file.name} is lost"


def _some(chance: random.Random, files: list[Path]) -> tuple[Path, bytearray]:
    file = _one(chance, [f for f in files if f.stat().st_size])
    return file, bytearray(file.read_bytes())


def _one(chance: random.Random, files: list[Path]) -> Path:
    """Each kind of file as often as another, however many there are; those that hold no data less often."""
    kinds: dict[str, list[Path]] = {}
    for file in files:
        kinds.setdefault(file.parent.name if file.parent.name in FOLDERS else file.name, []).append(file)
    (kind,) = chance.choices(list(kinds), [1 if kind in TRIFLES else 5 for kind in kinds])
    return chance.choice(kinds[kind])


WAYS: dict[Damage, int] = {
    _flip: 10,
    _cut: 4,
    _grow: 1,
    _overwrite: 3,
    _swap_blocks: 3,
    _swap_files: 2,
    _copy: 2,
    _outdate: 1,
    _mistake: 2,
    _lose: 1,
}
