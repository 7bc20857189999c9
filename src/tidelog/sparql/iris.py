"""Resolving relative IRIs against a base (RFC 3986, section 5.2)."""

from __future__ import annotations

import re

_PARTS = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


def resolve(base: str, reference: str) -> str:
    """The IRI a reference means; without a base, or if it is an IRI already, the reference itself.

    >>> resolve("http://e.org/a/b", "../c"), resolve("", "ann")
    ('http://e.org/c', 'ann')
    """
    if not base:
        return reference
    scheme, authority, path, query, fragment = _parts(reference)
    if scheme is not None:
        return reference
    scheme, b_authority, b_path, b_query, _ = _parts(base)
    if authority is not None:
        path = _without_dots(path)
    else:
        authority = b_authority
        if not path:
            path, query = b_path, b_query if query is None else query
        elif path.startswith("/"):
            path = _without_dots(path)
        else:
            path = _without_dots(_merged(b_authority, b_path, path))
    return "".join(
        (
            f"{scheme}:" if scheme is not None else "",
            f"//{authority}" if authority is not None else "",
            path,
            f"?{query}" if query is not None else "",
            f"#{fragment}" if fragment is not None else "",
        )
    )


def _parts(iri: str) -> tuple[str | None, str | None, str, str | None, str | None]:
    match = _PARTS.fullmatch(iri)
    assert match
    return match[1], match[2], match[3], match[4], match[5]


def _merged(authority: str | None, base: str, path: str) -> str:
    return f"/{path}" if authority is not None and not base else base[: base.rfind("/") + 1] + path


def _without_dots(path: str) -> str:
    if "." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            if len(kept) > 1 or (kept and kept[0]):
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)
