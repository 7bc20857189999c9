"""What a disk may hold after the power failed at any moment of a recorded session.

The rules are those a program may rely on and no more: what was written to a file is safe once that file was synced, and
a name (created, renamed, removed) once the folder holding it was synced. Until then each part may have arrived or not:
writes sector by sector in any order, lengths, and names one by one, a rename always as a whole.
"""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.store.shim import Kind

SECTOR = 512
HEADER = struct.Struct("<HQqII")  # `struct entry` of shim.c


@dataclass(frozen=True)
class Call:
    """One recorded call: what kind, on which inode, an offset, size or mark, and paths or data."""

    kind: Kind
    inode: int
    number: int
    first: bytes
    second: bytes


def read_log(log: Path) -> Iterator[Call]:
    text, at = log.read_bytes(), 0
    while at < len(text):
        kind, inode, number, n, m = HEADER.unpack_from(text, at)
        at += HEADER.size
        yield Call(Kind(kind), inode, number, text[at : at + n], text[at + n : at + n + m])
        at += n + m


Edit = tuple[int, bytes | None]  # data at an offset, or a new length


@dataclass(eq=False)
class File:
    """Bytes that are safe, and the edits since, in order."""

    safe: bytes = b""
    pending: list[Edit] = field(default_factory=list)

    def sync(self) -> None:
        self.safe = edited(self.safe, self.pending)
        self.pending.clear()


def edited(content: bytes, edits: list[Edit]) -> bytes:
    result = bytearray(content)
    for place, data in edits:
        end = place + len(data or b"")
        result.extend(bytes(max(0, end - len(result))))
        if data is None:
            del result[place:]
        else:
            result[place:end] = data
    return bytes(result)


@dataclass(eq=False)
class Folder:
    """Entries as the running program sees them, and those that are safe."""

    now: dict[str, File | Folder] = field(default_factory=dict)
    safe: dict[str, File | Folder] = field(default_factory=dict)


Node = File | Folder
Names = list[tuple[Folder, str, Node | None]]  # entries that change together; None removes


class Disk:
    """The watched folder as the calls so far leave it, safe and not yet safe kept apart."""

    def __init__(self, path: Path) -> None:
        """Everything that is in the folder now counts as safe."""
        self._path = path.resolve()
        self._inodes: dict[int, Node] = {}
        self._pending: list[Names] = []
        self._root = self._read(self._path)

    def _read(self, path: Path) -> Node:
        node: Node = File(b"" if path.is_dir() else path.read_bytes())
        if path.is_dir():
            entries = {p.name: self._read(p) for p in path.iterdir()}
            node = Folder(entries, dict(entries))
        self._inodes[path.stat().st_ino] = node
        return node

    def apply(self, call: Call) -> None:
        """Take in the next call of the log."""
        first, second = os.fsdecode(call.first), os.fsdecode(call.second)
        match call.kind:
            case Kind.WRITE:
                self._file(call).pending.append((call.number, call.first))
            case Kind.TRUNCATE:
                self._file(call).pending.append((call.number, None))
            case Kind.SYNC:
                self._sync(self._inodes[call.inode])
            case Kind.CREATE | Kind.MKDIR:
                node = self._inodes[call.inode] = File() if call.kind is Kind.CREATE else Folder()
                self._rename([(*self._place(first), node)])
            case Kind.LINK:
                self._rename([(*self._place(second), self._node(first))])
            case Kind.RENAME:
                self._rename([(*self._place(first), None), (*self._place(second), self._node(first))])
            case Kind.UNLINK | Kind.RMDIR:
                self._rename([(*self._place(first), None)])

    def _file(self, call: Call) -> File:
        node = self._inodes[call.inode]
        assert isinstance(node, File)
        return node

    def _sync(self, node: Node) -> None:
        if isinstance(node, File):
            node.sync()
            return
        for names in self._pending:
            if names[-1][0] is node:
                for folder, name, target in names:
                    _set(folder.safe, name, target)
        self._pending = [names for names in self._pending if names[-1][0] is not node]

    def _rename(self, names: Names) -> None:
        self._pending.append(names)
        for folder, name, target in names:
            _set(folder.now, name, target)

    def _place(self, path: str) -> tuple[Folder, str]:
        parent, name = os.path.split(path)
        folder = self._node(parent)
        assert isinstance(folder, Folder)
        return folder, name

    def _node(self, path: str) -> Node:
        node = self._root
        for name in Path(path).relative_to(self._path).parts:
            assert isinstance(node, Folder)
            node = node.now[name]
        return node

    def survivors(self, target: Path, chance: Chance) -> None:
        """Write what survives a power failure at this moment, in one of the ways it may."""
        changed: dict[Folder, dict[str, Node]] = {}
        for names in filter(chance.renamed, self._pending):
            for folder, name, node in names:
                _set(changed.setdefault(folder, dict(folder.safe)), name, node)
        _write(self._root, target, changed, chance)


def _set(entries: dict[str, Node], name: str, node: Node | None) -> None:
    if node is None:
        entries.pop(name, None)
    else:
        entries[name] = node


def _write(node: Node, target: Path, changed: dict[Folder, dict[str, Node]], chance: Chance) -> None:
    if isinstance(node, File):
        target.write_bytes(edited(node.safe, chance.arrived(node.pending)))
        return
    target.mkdir(exist_ok=True)
    for name, child in changed.get(node, node.safe).items():
        _write(child, target / name, changed, chance)


class Chance:
    """Which of the changes that were not safe have arrived; the same for the same seed."""

    def __init__(self, seed: object) -> None:
        self._random = random.Random(repr(seed))
        self._names = self._random.choice((0.0, 0.5, 1.0))

    def renamed(self, names: Names) -> bool:
        return self._random.random() < self._names

    def arrived(self, edits: list[Edit]) -> list[Edit]:
        match self._random.randrange(4):
            case 0:
                return []
            case 1:
                return edits
            case 2:
                return edits[: self._random.randrange(len(edits) + 1)]
            case _:
                return [part for edit in edits for part in self._sectors(*edit)]

    def _sectors(self, place: int, data: bytes | None) -> Iterator[Edit]:
        """Some of the sectors of one write, or a change of length or not."""
        if data is None:
            yield from [(place, None)] * self._random.randrange(2)
            return
        end = place + len(data)
        for start in range(place // SECTOR * SECTOR, end, SECTOR):
            low, high = max(start, place), min(start + SECTOR, end)
            if self._random.random() < 0.5:
                yield low, data[low - place : high - place]


class Everything(Chance):
    """The power did not fail."""

    def __init__(self) -> None:
        super().__init__(0)

    def renamed(self, names: Names) -> bool:
        return True

    def arrived(self, edits: list[Edit]) -> list[Edit]:
        return edits


class Nothing(Chance):
    """Only what is safe has arrived."""

    def __init__(self) -> None:
        super().__init__(0)

    def renamed(self, names: Names) -> bool:
        return False

    def arrived(self, edits: list[Edit]) -> list[Edit]:
        return []
