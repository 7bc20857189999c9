"""Notebook displays as HTML: tables of texts, and changes as coloured lines. Every text is escaped.

The colours are readable on light and on dark pages, and the signs `+` and `−` say the same without colours. A display
has few rows and says how many more there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_TABLE = "border-collapse:collapse;font-variant-numeric:tabular-nums"
_CELL = "text-align:left;padding:.15em .8em;border-bottom:1px solid #8885"
_LINE = "font-family:monospace;white-space:pre-wrap;overflow-wrap:anywhere;padding-left:.5em"
_COLOURS = {"": "#8885", "+": "#2da44e", "-": "#e5534b"}


def table_html(names: Sequence[str], rows: Iterable[Sequence[str]], more: int = 0) -> str:
    """A table. `more` is the number of rows that are not shown."""
    body = "".join(_row("td", row) for row in rows)
    if more > 0:
        body += f'<tr><td style="{_CELL}" colspan="{max(len(names), 1)}">… {more:,} more</td></tr>'
    head = f"<thead>{_row('th', names)}</thead>" if names else ""
    return f'<table style="{_TABLE}">{head}<tbody>{body}</tbody></table>'


def _row(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(_cell(tag, cell) for cell in cells)}</tr>"


def _cell(tag: str, text: str) -> str:
    return f'<{tag} style="{_CELL}">{escape(text)}</{tag}>'


def lines_html(texts: Iterable[str], more: int = 0, sign: str = "") -> str:
    """Facts or rules, one on a line; with a sign, `+` or `-`, the lines of a change."""
    colour = _COLOURS[sign]
    tint = f";background:{colour}26" if sign else ""
    mark = f"{sign.replace('-', '−')} " if sign else ""
    lines = [*texts, *([f"… {more:,} more"] if more > 0 else [])]
    style = f"{_LINE};border-left:.25em solid {colour}{tint}"
    return "".join(f'<div style="{style}">{escape(mark + line)}</div>' for line in lines)


def headline_html(text: str) -> str:
    return f"<div>{escape(text)}</div>"
