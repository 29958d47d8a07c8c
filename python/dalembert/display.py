"""What notebooks show: small tables, pictures and pages."""

from __future__ import annotations

import html
import os
from typing import Any, Iterable, Sequence, Union

from .files import replace

__all__ = ["Page", "Picture", "figures", "heading", "listing", "number"]


class Picture:
    """A picture as SVG."""

    def __init__(self, svg: str, name: str = "") -> None:
        self.svg = svg
        self.name = name

    def __repr__(self) -> str:
        return f"<picture {self.name}>" if self.name else "<picture>"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the picture to a file."""
        replace(path, self.svg)


class Page:
    """An HTML page that needs nothing else, shown in a frame of its own."""

    def __init__(self, text: str, height: int = 640) -> None:
        self.text = text
        self.height = height

    def __repr__(self) -> str:
        return f"<page of {len(self.text)} characters>"

    def _repr_html_(self) -> str:
        inside = html.escape(self.text, quote=True)
        style = f"width:100%;height:{self.height}px;border:1px solid #8884"
        return f'<iframe srcdoc="{inside}" style="{style}" sandbox="allow-scripts"></iframe>'

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the page to a file."""
        replace(path, self.text)


def heading(text: str, remark: str = "") -> str:
    """A title with a remark in grey."""
    more = f' <span style="opacity:.6;font-weight:normal">{html.escape(remark)}</span>' if remark else ""
    return f"<p><b>{html.escape(text)}</b>{more}</p>"


def listing(head: Sequence[str], rows: Iterable[Sequence[Any]], most: int = 40) -> str:
    """A table; rows beyond ``most`` are counted only."""
    all_rows = list(rows)
    cells = "".join(f"<th style='text-align:left'>{html.escape(title)}</th>" for title in head)
    lines = [f"<table><thead><tr>{cells}</tr></thead><tbody>" if any(head) else "<table><tbody>"]
    for row in all_rows[:most]:
        lines.append("<tr>" + "".join(f"<td style='text-align:left'>{html.escape(str(cell))}</td>" for cell in row) + "</tr>")
    lines.append("</tbody></table>")
    if len(all_rows) > most:
        lines.append(f"<p>and {len(all_rows) - most} more</p>")
    return "".join(lines)


def figures(svgs: Iterable[str]) -> str:
    """Pictures below each other."""
    return "".join(f"<div>{svg}</div>" for svg in svgs)


def number(value: Any) -> str:
    """A number as people read it."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
