"""A module of Python with the types of agents: `TypedDict`, or models of pydantic."""

from __future__ import annotations

import keyword
import re
from typing import Any

from .types_of_schema import NEVER, Declaration, Property, Type, quote, take_name, to_type_name, types_of

HEADER = "# Written by `python -m agent_execution types`: run it again after a publish."
TYPED_DICT = '''from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypedDict

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired

if TYPE_CHECKING:
    from typing_extensions import TypeAlias
'''
PYDANTIC = '''from __future__ import annotations

from typing import Any, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer


class _Model(BaseModel):
    """Fields that are not set are not sent: the service sets their default."""

    model_config = ConfigDict(populate_by_name=True, extra="allow", protected_namespaces=())

    @model_serializer(mode="wrap")
    def _without_unset(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        unset = {name for key, field in fields.items() if key not in self.model_fields_set for name in (key, field.alias)}
        return {name: value for name, value in handler(self).items() if name not in unset}
'''
#: Names that the written module imports, or that Python reserves for values.
RESERVED = {
    *("Any", "Literal", "NoReturn", "NotRequired", "TypeAlias", "TypedDict", "TYPE_CHECKING", "None", "True"),
    *("False", "BaseModel", "ConfigDict", "Field", "SerializerFunctionWrapHandler"),
}
BUILT_INS = {"bool", "dict", "float", "int", "list", "str", "sys"}
PLAIN = {
    **{"unknown": "Any", "never": "NoReturn", "null": "None"},
    **{"string": "str", "number": "float", "integer": "int", "boolean": "bool"},
}


def write_module(agents: list[dict[str, Any]], *, pydantic: bool = False) -> str:
    """The module with an input and an output type for each agent, by its slug."""
    taken = {*RESERVED}
    declarations: list[Declaration] = []
    for agent in sorted(agents, key=lambda each: each["slug"]):
        for schema, suffix in (("inputSchema", "Input"), ("outputSchema", "Output")):
            declarations += types_of(agent[schema], to_type_name(agent["slug"]) + suffix, taken)
    blocks = _Writer(declarations, taken, pydantic).write()
    return f"{HEADER}\n{PYDANTIC if pydantic else TYPED_DICT}\n\n" + "\n\n".join(blocks)


class _Writer:
    """Objects are a class each, other types an alias. Where Python cannot say what the schema says, it allows more."""

    def __init__(self, declarations: list[Declaration], taken: set[str], pydantic: bool) -> None:
        self._declarations = declarations
        self._types = {each.name: each.type for each in declarations}
        self._taken = taken
        self._pydantic = pydantic
        self._blocks: list[str] = []
        #: Aliases of models come after all classes, because they are evaluated.
        self._aliases: list[str] = []
        self._open: list[str] = []

    def write(self) -> list[str]:
        """The declarations, each with a line break at its end."""
        for each in self._declarations:
            self._declare(each.name, each.type, each.description)
        return self._blocks + self._aliases

    def _declare(self, name: str, type: Type, description: str | None) -> None:
        members = None if type.kind == "reference" else self._as_object(type, set())
        # Reserves the position, so that a type comes before those of its fields.
        index = len(self._blocks)
        self._blocks.append("")
        if members is not None and members.properties:
            self._blocks[index] = self._class(name, members, description)
        else:
            del self._blocks[index]
            text = self._text(type, name)
            alias = f"{name} = {text}\n" if self._pydantic else f"{name}: TypeAlias = {quote(text)}\n"
            (self._aliases if self._pydantic else self._blocks).append(_comment(description, "") + alias)

    def _class(self, name: str, type: Type, description: str | None) -> str:
        if self._pydantic:
            return f"class {name}(_Model):\n{_docstring(description)}" + "".join(self._model_fields(name, type))
        fields = [(each, self._field_type(each, name)) for each in type.properties]
        if all(self._is_variable(each.name) for each in type.properties):
            lines = [f"{_comment(each.description, '    ')}    {each.name}: {text}\n" for each, text in fields]
            return f"class {name}(TypedDict):\n{_docstring(description)}" + "".join(lines)
        lines = [f"{_comment(each.description, ' ' * 8)}        {quote(each.name)}: {quote(text)},\n" for each, text in fields]
        return f"{_comment(description, '')}{name} = TypedDict(\n    {quote(name)},\n    {{\n{''.join(lines)}    }},\n)\n"

    def _model_fields(self, owner: str, type: Type) -> list[str]:
        names = {"model_config", *dir(dict), "copy", "json", "schema", "validate", "construct"}
        lines: list[str] = []
        for each in type.properties:
            name = re.sub(r"\W", "_", each.name, flags=re.ASCII).strip("_") or "field"
            name = name if self._is_variable(name) and not name.startswith("model_") else f"field_{name}"
            name = take_name(name, names)
            text = self._text(each.type, owner + to_type_name(each.name))
            alias = [] if name == each.name else [f"alias={quote(each.name)}"]
            if not each.is_required:
                text = text if text in ("Any", "None") or text.endswith(" | None") else f"{text} | None"
                value = f" = Field({', '.join(['default=None', *alias])})" if alias else " = None"
            else:
                value = f" = Field({alias[0]})" if alias else ""
            lines.append(f"{_comment(each.description, '    ')}    {name}: {text}{value}\n")
        return lines

    def _is_variable(self, name: str) -> bool:
        """In a class, names with two underscores are mangled, and a field hides the type of the same name."""
        is_name = re.fullmatch(r"(?!__)[A-Za-z_][A-Za-z0-9_]*", name)
        return bool(is_name) and not keyword.iskeyword(name) and name not in BUILT_INS | self._taken

    def _field_type(self, field: Property, owner: str) -> str:
        text = self._text(field.type, owner + to_type_name(field.name))
        return text if field.is_required else f"NotRequired[{text}]"

    def _text(self, type: Type, path: str) -> str:
        """`path`: the name of an object type at this position."""
        if type.kind == "literal":
            return _literal(type.value)
        if type.kind == "reference":
            return self._reference(type.value, path)
        if type.kind == "array":
            return f"list[{self._text(type.members[0], path + 'Item')}]"
        if type.kind == "tuple":
            # JSON arrays are lists, whose items have one type.
            members = [*type.members, *([type.rest] if type.rest else [])]
            return f"list[{self._union(members or [NEVER], path + 'Item')}]"
        if type.kind == "union":
            return self._union(type.members, path)
        return PLAIN[type.kind] if type.kind in PLAIN else self._object(type, path)

    def _reference(self, name: str, path: str) -> str:
        target = self._types[name]
        members = self._as_object(target, set()) if target.kind != "reference" else None
        if not self._pydantic or (members and members.properties):
            return name
        # Models cannot evaluate an alias that comes later.
        if name in self._open:
            return "Any"
        self._open.append(name)
        text = self._text(target, path)
        self._open.pop()
        return text

    def _union(self, members: list[Type], path: str) -> str:
        texts = [self._text(member, path) for member in members]
        if "Any" in texts:
            return "Any"
        # `Literal` takes several values.
        values = [text[8:-1] for text, member in zip(texts, members) if member.kind == "literal" and text[:8] == "Literal["]
        others = [text for text, member in zip(texts, members) if member.kind != "literal" or text[:8] != "Literal["]
        return " | ".join(dict.fromkeys([*([f"Literal[{', '.join(values)}]"] if values else []), *others]))

    def _object(self, type: Type, path: str) -> str:
        """An intersection of anything but objects has no type in Python."""
        members = self._as_object(type, set())
        if members is None:
            return "Any"
        if not members.properties:
            return f"dict[str, {self._text(members.rest, path + 'Value') if members.rest else 'NoReturn'}]"
        name = take_name(path, self._taken)
        self._declare(name, members, None)
        return name

    def _as_object(self, type: Type, seen: set[str]) -> Type | None:
        """The object type, or that of an intersection of objects, whose fields are those of all."""
        if type.kind == "object":
            return type
        if type.kind == "reference":
            return None if type.value in seen else self._as_object(self._types[type.value], seen | {type.value})
        if type.kind != "intersection":
            return None
        fields: dict[str, Property] = {}
        is_open = True
        for member in type.members:
            part = self._as_object(member, seen)
            if part is None:
                return None
            is_open = is_open and part.rest is not None
            for each in part.properties:
                earlier = fields.get(each.name)
                is_required = each.is_required or (earlier is not None and earlier.is_required)
                fields[each.name] = Property(each.name, each.type, is_required, each.description)
        return Type("object", properties=list(fields.values()), rest=Type("unknown") if is_open else None)


def _literal(value: Any) -> str:
    """`Literal` takes no fractions."""
    if value is None or isinstance(value, bool):
        return "None" if value is None else f"Literal[{value}]"
    if isinstance(value, str):
        return f"Literal[{quote(value)}]"
    return f"Literal[{int(value)}]" if float(value).is_integer() and abs(value) < 2**53 else "float"


def _lines(text: str | None) -> list[str]:
    return re.split(r"\r\n|[\r\n\u2028\u2029\f\v\x1c-\x1e\x85]", text.strip()) if text and text.strip() else []


def _comment(text: str | None, indent: str) -> str:
    return "".join(f"{indent}# {line}".rstrip() + "\n" for line in _lines(text))


def _docstring(text: str | None) -> str:
    lines = _lines(text)
    if not lines:
        return ""
    escaped = "\n    ".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return f'    """{escaped}"""\n\n'
