# Written by `python -m agent_execution types`: run it again after a publish.
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypedDict

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired

if TYPE_CHECKING:
    from typing_extensions import TypeAlias


class RedactPiiInput(TypedDict):
    # The text to redact, of any length and in any language.
    content: str


class RedactPiiOutput(TypedDict):
    # The content with each entity replaced by a placeholder. Text outside the entities is unchanged.
    redactedContent: str
    # The entities that were replaced, sorted by start, without overlaps. The original text is omitted so that the list contains no personal data.
    entities: list[RedactPiiOutputEntitiesItem]


class RedactPiiOutputEntitiesItem(TypedDict):
    # The type of the entity.
    type: Literal["EMAIL_ADDRESS", "PHONE_NUMBER", "PAYMENT_CARD", "IBAN", "US_SSN", "IPV4_ADDRESS", "IPV6_ADDRESS"]
    # Offset in content where the entity starts, in UTF-16 code units (as in JavaScript's String.slice).
    start: int
    # Offset in content after the last code unit of the entity (exclusive), in UTF-16 code units.
    end: int
    # The placeholder in redactedContent, such as [EMAIL_ADDRESS].
    replacement: str


class RefundOrderInput(TypedDict):
    # The number of the order.
    orderId: str
    # How much to refund in US dollars.
    usd: float


class RefundOrderOutput(TypedDict):
    # Whether the order was refunded.
    refunded: bool
    # How much was refunded.
    usd: float
    # Who approved or rejected it, and why.
    reason: str


class SummarizeTextInput(TypedDict):
    # The text to summarize.
    text: str
    # The maximum number of sentences in the summary.
    sentences: NotRequired[int]


class SummarizeTextOutput(TypedDict):
    # The summary, in the language of the text.
    summary: str
    # The topics of the text: one to five words or short phrases.
    topics: list[str]


class TriageTicketInput(TypedDict):
    # The subject of the ticket.
    subject: str
    # The message from the customer.
    body: str


class TriageTicketOutput(TypedDict):
    # How soon the ticket needs a response.
    priority: Literal["low", "normal", "high", "urgent"]
    # The team to handle the ticket.
    team: Literal["billing", "accounts", "technical", "other"]
    # One or two sentences for the team, without personal data.
    summary: str
    # Whether an incident on the status page explains the problem.
    knownIncident: bool


class WaitInput(TypedDict):
    # How long to wait, from 0 to 3600 seconds.
    seconds: float


class WaitOutput(TypedDict):
    # How long the agent waited, in seconds.
    waitedSeconds: float
