"""Server-sent events."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class SentEvent:
    """A server-sent event with the fields that the service uses."""

    event: str
    data: str
    id: str | None


#: A carriage return at the end may be followed by a line feed that has not arrived yet.
_LINE_END = re.compile(r"\r\n|\n|\r(?!\Z)")


class EventParser:
    """
    Parses an event stream that arrives in parts, which can end anywhere.

    https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
    """

    def __init__(self) -> None:
        #: Seconds, as the last `retry` says.
        self.retry: float | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text = ""
        self._event = ""
        self._data: list[str] = []
        self._id: str | None = None

    def push(self, part: bytes) -> list[SentEvent]:
        """The events that are complete. One without its empty line is dropped at the end, as browsers do."""
        events: list[SentEvent] = []
        search_from = max(len(self._text) - 1, 0)
        self._text += self._decoder.decode(part)
        start = 0
        for match in _LINE_END.finditer(self._text, search_from):
            line = self._text[start : match.start()]
            start = match.end()
            if line:
                self._read_field(line)
                continue
            if self._data:
                events.append(SentEvent(self._event, "\n".join(self._data), self._id))
            self._event, self._data, self._id = "", [], None
        self._text = self._text[start:]
        return events

    def _read_field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id":
            self._id = value
        elif name == "retry" and re.fullmatch(r"[0-9]{1,9}", value):
            self.retry = int(value) / 1000
