"""The beginning of JSON."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .values import as_object

#: A string ends at its quote, or before an escape that is not complete.
_TOKEN = re.compile(r'[ \t\r\n]+|[{}\[\],:]|"(?:[^"\\]|\\u[\da-fA-F]{4}|\\[^u])*("?)|[^\s{}\[\],:"]+')


def parse_partial(text: str, loads: Callable[[str], Any]) -> dict[str, Any] | None:
    """
    Reads the beginning of the JSON of an object: with each value that is complete, and the beginning of a text. None
    for anything else.
    """
    begin = len(text) - len(text.lstrip(" \t\r\n"))
    if not text.startswith("{", begin):
        return None
    open_: list[str] = []
    is_name = False
    # Up to `end`, the text is valid JSON if `tail` follows.
    end, tail = 0, ""
    position = begin
    while match := _TOKEN.match(text, position):
        token, position = match[0], match.end()
        closes = None
        if token in "{[":
            open_.append("}" if token == "{" else "]")
            is_name = token == "{"
            closes = ""
        elif token in "}]":
            if open_:
                open_.pop()
            closes = ""
        elif token == ",":
            is_name = open_[-1:] == ["}"]
        elif token == ":":
            is_name = False
        elif token[0] == '"':
            closes = None if is_name else "" if match[1] else '"'
        elif token.strip() and position < len(text):
            closes = ""  # A number can go on.
        if closes is not None:
            end, tail = position, closes + "".join(reversed(open_))
    try:
        return as_object(loads(text[begin:end] + tail))
    except (ValueError, RecursionError):
        return None
