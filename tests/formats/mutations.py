"""Lines of N-Quads with small damages: what a fuzzer needs to be quick and to replay from a seed."""

from __future__ import annotations

from random import Random

PLAIN = [
    b"<http://e/a> <http://e/b> <http://e/c> .",
    b'<http://e/a> <http://e/b> "x y" .',
    b'_:a <http://e/b> "x"@en-GB .',
    b'<http://e/a> <http://e/b> "5"^^<http://www.w3.org/2001/XMLSchema#integer> .',
    b'<http://e/a> <http://e/b> "x"^^<http://www.w3.org/2001/XMLSchema#string> .',
    b'<http://e/a> <http://e/b> "t\\tn\\nq\\"b\\\\u\\u00e9U\\U0001F600" .',
    '<http://e/é> <http://e/b> "ü \U0001f600" .'.encode(),
    b"<http://e/\\u00e9> <http://e/b> _:b.c .",
    b"\t<http://e/a>\t<http://e/b>  <http://e/c>.# comment",
    b"# only a comment",
    b"",
    b'<http://e/a> <http://e/b> "a" <http://e/g> .',
    b"<http://e/a> <http://e/b> _:x _:g .",
    b'<http://e/a> <http://e/b> "sp ace <http://e/no> ." <http://e/g> .',
    b"<http://e/a><http://e/b><http://e/c>.",
    b"<http://e/a> <http://e/b> <http://e/c> .\r",
]
_SPICE = b"<>\"'\\ \t.@^_:#-aZ09u\xc3\xa9\xff\x00\r{}|`%" + "é·\u203f".encode()


def mutated(random: Random) -> bytes:
    """A line with nought to three damages. Line ends are left to the caller."""
    line = bytearray(random.choice(PLAIN))
    for _ in range(random.randrange(4)):
        at = random.randrange(len(line) + 1)
        kind = random.randrange(4)
        if kind == 0:
            line[at:at] = bytes([random.choice(_SPICE)])
        elif kind == 1:
            del line[at : at + random.randrange(1, 4)]
        elif kind == 2:
            line[at : at + 1] = bytes([random.choice(_SPICE)])
        else:
            other = random.choice(PLAIN)
            cut = random.randrange(len(other) + 1)
            line[at:] = other[cut:]
    return bytes(line).replace(b"\n", b"")
