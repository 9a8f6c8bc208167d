"""Types of agents. `npm run examples` checks with mypy that those of random schemas are valid."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from agent_execution.__main__ import main
from agent_execution.typegen import write_module
from scripted_service import scripted_service


def module_of(schema: Any, **options: Any) -> str:
    """What is written of an agent, without the imports and its output."""
    agent = {"slug": "value", "inputSchema": schema, "outputSchema": {"type": "null"}}
    text = write_module([agent], **options)
    return text[text.index("\n\n\n") :].strip("\n").replace('\n\nValueOutput: TypeAlias = "None"', "").rstrip("\n")


def closed(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False, **more}


def test_a_class_for_each_object_with_descriptions_and_optional_fields() -> None:
    declared = {
        "text": {"type": "string", "description": "The text.\nIn any language."},
        "mode": {"type": "string", "enum": ["fast", 'it"s'], "default": "fast"},
        "file": {"type": "file", "mediaTypes": ["image/png"]},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "number"}, "note": {"type": "null"}}}},
    }
    assert module_of(declared).startswith('''class ValueInput(TypedDict):
    # The text.
    # In any language.
    text: str
    mode: NotRequired[Literal["fast", "it\\"s"]]
    file: ValueInputFile
    lines: list[ValueInputLinesItem]


class ValueInputFile(TypedDict):
    mediaType: Literal["image/png"]
    data: str


class ValueInputLinesItem(TypedDict):
    n: float
    note: None''')


def test_quotes_keys_that_are_no_names() -> None:
    for name in ("class", "Any", "__hidden", "ValueInput", "list", "1st", "", "max-words", "größe"):
        assert f'{json.dumps(name, ensure_ascii=False)}: "str"' in module_of(closed({name: {"type": "string"}}))


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"$schema": "x", "anyOf": [{"type": "string"}, {"const": 1.5}, {"enum": [True, None, 7]}]}, "Literal[True, 7] | str | float | None"),
        ({"type": "object"}, "dict[str, Any]"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "dict[str, int]"),
        ({"$schema": "x", "type": ["string", "null"]}, "str | None"),
        ({"$schema": "x", "anyOf": [{"$ref": "#"}, {"type": "string"}]}, "Any"),
    ],
)
def test_an_alias_for_what_is_no_object(schema: Any, expected: str) -> None:
    assert f'ValueInput: TypeAlias = "{expected}"' in module_of(schema)


def test_recursive_types_tuples_and_intersections() -> None:
    schema = closed(
        {
            "tree": {"$ref": "#/$defs/tree"},
            "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
            "both": {"allOf": [closed({"a": {"type": "string"}}), closed({"b": {"type": "string"}}, required=[])]},
        },
        **{"$defs": {"tree": closed({"children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}})}},
    )
    assert module_of(schema).startswith('''class ValueInput(TypedDict):
    tree: ValueInputTree
    pair: list[str | int]
    both: ValueInputBoth


class ValueInputBoth(TypedDict):
    a: str
    b: NotRequired[str]


class ValueInputTree(TypedDict):
    children: list[ValueInputTree]''')


def test_a_description_cannot_end_its_docstring_or_its_comment() -> None:
    schema = closed({"a": {"description": "x\u2028import os"}}, description='Ends: """\nimport os \\')
    namespace: dict[str, Any] = {}
    exec(module_of(schema).replace("(TypedDict)", ""), namespace)
    assert "os" not in namespace
    assert namespace["ValueInput"].__doc__.startswith('Ends: """')


def test_models_of_pydantic_read_and_write_what_the_schema_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    pydantic = pytest.importorskip("pydantic")
    schema = closed(
        {"max-words": {"type": "integer"}, "tree": {"$ref": "#/$defs/tree"}, "model_config": {"type": "string"}, "copy": {}, "id": {"$ref": "#/$defs/id"}},
        required=["tree"],
        **{"$defs": {"tree": closed({"children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}), "id": {"type": ["string", "null"]}}},
    )
    agents = [{"slug": "value", "inputSchema": schema, "outputSchema": {"$schema": "x", "type": ["string", "null"]}}]
    module = type(sys)("models")
    monkeypatch.setitem(sys.modules, "models", module)
    exec(compile(write_module(agents, pydantic=True), "models", "exec"), module.__dict__)
    value = {"max-words": 7, "tree": {"children": [{"children": []}]}, "copy": None, "more": 1}
    model = module.ValueInput.model_validate(value)
    assert model.max_words == 7
    assert model.tree.children[0].children == []
    assert model.model_dump(mode="json", by_alias=True) == value
    assert pydantic.TypeAdapter(module.ValueOutput).validate_python(None) is None
    with pytest.raises(pydantic.ValidationError):
        module.ValueInput.model_validate({})


def test_the_command_reads_a_service_and_writes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    field = {"name": {"type": "string"}}
    agents = [
        {"slug": "greet", "currentVersionId": "v1", "inputSchema": field, "outputSchema": field},
        {"slug": "draft", "currentVersionId": None, "inputSchema": field, "outputSchema": field},
    ]
    out = tmp_path / "agent_types.py"
    with scripted_service([{"json": agents}, {"problem": [401, "Unauthorized"]}]) as service:
        monkeypatch.setenv("AGENTS_TOKEN", "aes_x")
        assert main(["types", "--url", service.base_url, "--out", str(out)]) == 0
        assert main(["types", "--url", service.base_url]) == 1
        assert service.requests[0]["path"] == "/v1/agents?limit=100"
    printed = capsys.readouterr()
    assert printed.out == f"Wrote the types of 1 agent to {out}.\n"
    assert printed.err == "Cannot write the types: Unauthorized: It is Unauthorized.\n"
    assert "class GreetInput(TypedDict):\n    name: str\n" in out.read_text("utf-8")
    assert "Draft" not in out.read_text("utf-8")
    for wrong in (["types"], ["types", "--url", "http://x"]):
        monkeypatch.delenv("AGENTS_TOKEN", raising=False)
        with pytest.raises(SystemExit):
            main(wrong)
    (tmp_path / "agents.json").write_text("{")
    assert main(["types", "--agents", str(tmp_path / "agents.json")]) == 1
