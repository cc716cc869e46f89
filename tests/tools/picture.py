#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draw a terminal's text as an SVG picture.

Only colors (SGR, ECMA-48) are supported, no other function of a terminal.

usage: picture.py COMMAND <TEXT     COMMAND: shown in the first line
"""
import html
import re
import sys
import unicodedata

WIDTH, HEIGHT, LEFT, TOP = 7.8, 18, 18, 52
COLORS = {"1;31": "#ff7b7b", "1;33": "#f0c674", "1;34": "#81b4ff",
           "36": "#6fd0d0", "1": "#ffffff"}


def cells(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


def line(text, y):
    """Return one <text>, and its width in cells."""
    out, column, color = [], 0, ""
    for part in re.split(r"(\x1b\[[0-9;]*m)", text):
        sgr = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if sgr:
            color = COLORS.get(sgr[1], "")
            continue
        if not part:
            continue
        blank = len(part) - len(part.lstrip(" "))
        shown = part.strip(" ")
        if shown:
            x = LEFT + (column + blank) * WIDTH
            out.append(f'<tspan x="{x:.1f}" '
                       f'textLength="{cells(shown) * WIDTH:.1f}"'
                       + (f' fill="{color}"' if color else "")
                       + ">" + html.escape(shown, quote=False)
                       # Renderers differ in the blanks that they keep.
                       .replace(" ", "\u00a0") + "</tspan>")
        column += cells(part)
    return f'<text y="{y}">{"".join(out)}</text>' if out else "", column


def main():
    rows = ["\x1b[1m$ " + sys.argv[1] + "\x1b[0m"]
    rows += sys.stdin.read().rstrip("\n").split("\n")
    lines = [line(row, TOP + HEIGHT * i) for i, row in enumerate(rows)]
    width = round(LEFT * 2 + max(n for _, n in lines) * WIDTH)
    height = TOP + HEIGHT * len(rows)
    dots = "".join(f'<circle cx="{20 + 18 * i}" cy="18" r="6" fill="{fill}"/>'
                   for i, fill in enumerate(("#ff5f57", "#febc2e", "#28c840")))
    print(f'<svg xmlns="http://www.w3.org/2000/svg" role="img" '
          f'width="{width}" height="{height}" '
          f'viewBox="0 0 {width} {height}" '
          f'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, '
          f"'DejaVu Sans Mono', monospace\" "
          f'font-size="13" fill="#d5dbe3">')
    print(f"<title>{html.escape(sys.argv[1])}</title>")
    print(f'<rect width="{width}" height="{height}" rx="10" fill="#151b24"/>')
    print(dots)
    print(*(text for text, _ in lines if text), sep="\n")
    print("</svg>")


main()
