"""Validates recorded requests with the vendors' own packages: validate_requests.py <folder of .jsonl files>

OpenAI and Anthropic publish the types of their parameters, botocore the model of the service. Unknown members are errors.
Exits with 1 after a mismatch, and if a format has no request.
"""

import json
import sys
import typing
from collections import Counter
from pathlib import Path

# pydantic validates an Iterable only when it is read, too late to choose between the alternatives of a union.
typing.Iterable = typing.List

import botocore.session
from anthropic.types import message_create_params
from botocore.validate import ParamValidator
from openai.types.chat import ChatCompletionAssistantMessageParam, completion_create_params
from openai.types.responses import ResponseInputImageParam, response_create_params
from pydantic import ConfigDict, TypeAdapter, ValidationError
from typing_extensions import NotRequired

# An extension with which DeepSeek and others want their reasoning back; the other members are OpenAI's.
ChatCompletionAssistantMessageParam.__annotations__["reasoning_content"] = str

# The API has a default for it and its examples omit it, but the type requires it.
ResponseInputImageParam.__annotations__["detail"] = NotRequired[str]

MAX_PRINTED = 20


def by_types(params, base: str):
    """Validates with the two types of a body, for streaming and otherwise."""
    types = [getattr(params, f"{base}{suffix}") for suffix in ("Streaming", "NonStreaming")]
    for each in types:
        # The types inside inherit it.
        each.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)
    streaming, complete = map(TypeAdapter, types)

    def validate(model: str, body: dict) -> list[str]:
        try:
            (streaming if body.get("stream") else complete).validate_python(body)
            return []
        except ValidationError as error:
            return [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]

    return validate


def by_botocore():
    """Validates with the model of the service. ConverseStream has the same input as Converse."""
    shape = botocore.session.get_session().get_service_model("bedrock-runtime").operation_model("Converse").input_shape

    def validate(model: str, body: dict) -> list[str]:
        report = ParamValidator().validate({"modelId": model, **body}, shape)
        return report.generate_report().splitlines() if report.has_errors() else []

    return validate


VALIDATORS = {
    "openai": by_types(response_create_params, "ResponseCreateParams"),
    "openai-compatible": by_types(completion_create_params, "CompletionCreateParams"),
    "anthropic": by_types(message_create_params, "MessageCreateParams"),
    "bedrock": by_botocore(),
}


def main(folder: str) -> bool:
    total, invalid, printed = Counter(), Counter(), 0
    for path in sorted(Path(folder).glob("*.jsonl")):
        for line in path.open(encoding="utf-8"):
            request = json.loads(line)
            validate, model, body = VALIDATORS[request["format"]], request["model"], request["body"]
            total[request["format"]] += 1
            assert validate(model, {**body, "no_such_member": 1}), "The validator accepts unknown members."
            problems = validate(model, body)
            if not problems:
                continue
            invalid[request["format"]] += 1
            if printed < MAX_PRINTED:
                printed += 1
                print(f"{request['format']}: {json.dumps(body)[:2000]}", *problems, sep="\n  ")
    for name in VALIDATORS:
        print(f"{name}: {total[name]} requests, {invalid[name]} mismatches")
    return invalid.total() == 0 and all(total[name] for name in VALIDATORS)


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1]) else 1)
