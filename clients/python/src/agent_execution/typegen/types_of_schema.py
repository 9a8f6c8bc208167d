"""
Types for the JSON values that a schema accepts (field map, or JSON Schema 2020-12). They accept every value that the
schema accepts: keywords that types cannot express (bounds, patterns, `not`, `if`) are ignored.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from ..core.values import as_list, as_object

JSON_TYPES = ["string", "number", "boolean", "null", "array", "object"]
RESTRICTIONS = (
    "const enum properties required additionalProperties patternProperties unevaluatedProperties items prefixItems"
).split()
COMPOSITION = "$ref $dynamicRef allOf anyOf oneOf if then else dependentSchemas".split()
MEDIA_TYPES = ["application/pdf", "image/png", "image/jpeg", "image/gif", "image/webp"]


@dataclass
class Type:
    """
    `kind`: unknown, never, string, number, integer, boolean, null; literal (`value`); array and tuple (`members`);
    object (`properties`, `rest`); union, intersection (`members`); reference (`value`: the name of a declaration).
    """

    kind: str
    value: Any = None
    members: list[Type] = field(default_factory=lambda: list[Type]())
    properties: list[Property] = field(default_factory=lambda: list["Property"]())
    rest: Type | None = None


@dataclass
class Property:
    """A member of an object."""

    name: str
    type: Type
    is_required: bool
    description: str | None = None


@dataclass
class Declaration:
    """A type with a name."""

    name: str
    type: Type
    description: str | None


UNKNOWN, NEVER = Type("unknown"), Type("never")


def union(types: list[Type]) -> Type:
    """Without repetitions, nested unions and `never`."""
    return _combine("union", types, UNKNOWN, NEVER)


def intersection(types: list[Type]) -> Type:
    """Without repetitions, nested intersections and `unknown`."""
    return _combine("intersection", types, NEVER, UNKNOWN)


def _combine(kind: str, types: list[Type], dominant: Type, neutral: Type) -> Type:
    flat = [member for each in types for member in (each.members if each.kind == kind else [each])]
    members: list[Type] = []
    for member in flat:
        if member not in members and member.kind != neutral.kind:
            members.append(member)
    if any(member.kind == dominant.kind for member in members):
        return dominant
    return Type(kind, members=members) if len(members) > 1 else members[0] if members else neutral


def literal(value: Any) -> Type:
    """The type of one value."""
    items, members = as_list(value), as_object(value)
    if items is not None:
        return Type("tuple", members=[literal(item) for item in items])
    if members is not None:
        return Type("object", properties=[Property(name, literal(part), True) for name, part in members.items()])
    return Type("literal", value)


def to_type_name(text: str) -> str:
    """In PascalCase, for any text: `redact-pii` is `RedactPii`."""
    name = "".join(word[0].upper() + word[1:] for word in re.findall(r"[A-Za-z0-9]+", text))
    return name if re.match(r"[A-Z]", name) else f"Type{name}"


def take_name(name: str, taken: set[str]) -> str:
    """The name, with a number if it is taken."""
    free, number = name, 2
    while free in taken:
        free, number = f"{name}{number}", number + 1
    taken.add(free)
    return free


def types_of(declared: dict[str, Any], name: str, taken: set[str]) -> list[Declaration]:
    """The type of the whole schema first, then those of the schemas that it refers to."""
    is_schema = isinstance(declared.get("$schema"), str) or isinstance(declared.get("type"), str)
    reader = _Reader(declared if is_schema else _object_of_fields(declared), taken)
    reader.declare(reader.root, name, name)
    return _break_cycles(reader.declarations)


def _object_of_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """A field map as JSON Schema. Its objects do not allow undeclared fields."""
    known = {name: as_object(each) or {} for name, each in fields.items()}
    required = [name for name, each in known.items() if each.get("required", "default" not in each)]
    properties = {name: _schema_of_field(each) for name, each in known.items()}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _schema_of_field(given: dict[str, Any]) -> dict[str, Any]:
    if given.get("type") == "file":
        media = {"type": "string", "enum": given.get("mediaTypes", MEDIA_TYPES)}
        fields = {"mediaType": media, "data": {"type": "string"}}
        file = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
        return {**file, "description": given.get("description")}
    keywords = {name: value for name, value in given.items() if name not in ("required", "items", "properties")}
    items, properties = as_object(given.get("items")), as_object(given.get("properties"))
    nested = _object_of_fields(properties) if properties is not None else {}
    return {**keywords, **({"items": _schema_of_field(items)} if items is not None else {}), **nested}


class _Reader:
    def __init__(self, root: dict[str, Any], taken: set[str]) -> None:
        self.root = root
        self.declarations: list[Declaration] = []
        self._taken = taken
        self._names: dict[int, str] = {}
        self._prefix = ""

    def declare(self, part: dict[str, Any], wanted: str, prefix: str) -> str:
        """Registers the name before it reads the schema, so that recursive schemas terminate."""
        self._prefix = prefix
        if id(part) in self._names:
            return self._names[id(part)]
        name = self._names[id(part)] = take_name(wanted, self._taken)
        declaration = Declaration(name, UNKNOWN, _description(part))
        self.declarations.append(declaration)
        declaration.type = self.read(part, None)
        return name

    def read(self, schema: Any, around: list[str] | None) -> Type:
        """`around`: the JSON types that the keywords around leave; None for all."""
        part = as_object(schema)
        if part is None:
            return NEVER if schema is False else UNKNOWN
        types = _narrow(around, part.get("type"))
        composed = self._composed(part, types)
        is_restricted = any(keyword in part for keyword in RESTRICTIONS)
        is_repeated = not is_restricted and any(map(_has_own_type, composed))
        own = UNKNOWN if is_repeated else self._own(part, types, is_restricted)
        return intersection([own, *composed])

    def _composed(self, part: dict[str, Any], types: list[str] | None) -> list[Type]:
        def read_all(parts: Any) -> list[Type]:
            return [self.read(each, types) for each in as_list(parts) or []]

        found: list[Type] = []
        if isinstance(part.get("$ref"), str):
            found.append(self._refer(part["$ref"]))
        found += read_all(part.get("allOf"))
        return found + [union(read_all(part[name])) for name in ("anyOf", "oneOf") if as_list(part.get(name)) is not None]

    def _refer(self, ref: str) -> Type:
        target = _find(self.root, ref)
        schema = as_object(target)
        if schema is None:
            return NEVER if target is False else UNKNOWN
        last = re.split(r"[/#]", unquote(ref))[-1]
        return Type("reference", self.declare(schema, self._prefix + to_type_name(last), self._prefix))

    def _own(self, part: dict[str, Any], types: list[str] | None, is_restricted: bool) -> Type:
        if "const" in part:
            return literal(part["const"])
        values = as_list(part.get("enum"))
        if values is not None:
            return union([literal(each) for each in values if types is None or _types_of_value(each) & {*types}])
        if "type" not in part and not is_restricted:
            return UNKNOWN
        return union([self._read_as(each, part) for each in types or JSON_TYPES])

    def _read_as(self, type: str, part: dict[str, Any]) -> Type:
        if type == "array":
            return self._read_array(part)
        return self._read_object(part) if type == "object" else Type(type)

    def _read_object(self, part: dict[str, Any]) -> Type:
        declared = as_object(part.get("properties")) or {}
        required = [str(each) for each in as_list(part.get("required")) or []]
        names = list(dict.fromkeys([*declared, *required]))
        properties = [
            Property(name, self.read(declared.get(name, True), None), name in required, _description(declared.get(name)))
            for name in names
        ]
        return Type("object", properties=properties, rest=self._read_rest(part))

    def _read_rest(self, part: dict[str, Any]) -> Type | None:
        is_closed = part.get("unevaluatedProperties") is False and not any(each in part for each in COMPOSITION)
        others = part.get("additionalProperties", not is_closed)
        patterns = list((as_object(part.get("patternProperties")) or {}).values())
        rest = union([self.read(each, None) for each in (others, *patterns)])
        return None if rest.kind == "never" else rest

    def _read_array(self, part: dict[str, Any]) -> Type:
        prefix = as_list(part.get("prefixItems"))
        items = self.read(part.get("items", True), None)
        if prefix is None:
            return Type("array", members=[items])
        limit = part.get("maxItems")
        is_full = items.kind == "never" or (isinstance(limit, (int, float)) and limit <= len(prefix))
        members = [self.read(each, None) for each in prefix]
        return Type("tuple", members=members, rest=None if is_full else items)


def _find(root: dict[str, Any], ref: str) -> Any:
    """The target of a reference within the schema: a pointer, an anchor or an ID. None if there is none."""
    base, _, fragment = unquote(ref).partition("#")
    start: Any = root
    if base and base != root.get("$id"):
        start = next((each for each in _objects(root) if str(each.get("$id", "")).rstrip("#") == base), None)
    if not fragment.startswith("/"):
        return start if not fragment else next((each for each in _objects(start) if each.get("$anchor") == fragment), None)
    for token in fragment[1:].split("/"):
        name = token.replace("~1", "/").replace("~0", "~")
        members, items = as_object(start), as_list(start)
        if members is not None:
            start = members.get(name)
        else:
            start = items[int(name)] if items is not None and name.isdigit() and int(name) < len(items) else None
    return start


def _objects(value: Any) -> list[dict[str, Any]]:
    members = as_object(value)
    own = [] if members is None else [members]
    parts = list(members.values()) if members is not None else as_list(value) or []
    return own + [each for part in parts for each in _objects(part)]


def _narrow(types: list[str] | None, keyword: Any) -> list[str] | None:
    """What the keyword `type` leaves of the types; integers are numbers."""
    if keyword is None:
        return types
    own = [str(each) for each in as_list(keyword) or [keyword]]
    if types is None:
        return own

    def includes(all_types: list[str], type: str) -> bool:
        return type in all_types or (type == "integer" and "number" in all_types)

    common = [each for each in own if includes(types, each)]
    return list(dict.fromkeys([*common, *(each for each in types if includes(own, each))]))


def _types_of_value(value: Any) -> set[str]:
    if isinstance(value, bool) or value is None:
        return {"null" if value is None else "boolean"}
    if isinstance(value, (int, float)):
        return {"number", "integer"} if float(value).is_integer() else {"number"}
    return {"string"} if isinstance(value, str) else {"array" if isinstance(value, list) else "object"}


def _has_own_type(type: Type) -> bool:
    """Whether the type includes what is known from around it. A declaration may also be used elsewhere."""
    if type.kind in ("union", "intersection"):
        return (all if type.kind == "union" else any)(map(_has_own_type, type.members))
    return type.kind not in ("unknown", "reference")


def _description(schema: Any) -> str | None:
    part = as_object(schema) or {}
    text = part.get("description", part.get("title"))
    return text if isinstance(text, str) else None


def _break_cycles(declarations: list[Declaration]) -> list[Declaration]:
    """Replaces references that lead back to their own declaration through unions and intersections only."""
    types = {each.name: each for each in declarations}

    def reaches(type: Type, goal: str, seen: set[str]) -> bool:
        if type.kind in ("union", "intersection"):
            return any(reaches(member, goal, seen) for member in type.members)
        if type.kind != "reference" or type.value in seen:
            return False
        seen.add(type.value)
        return type.value == goal or (type.value in types and reaches(types[type.value].type, goal, seen))

    def without(type: Type, goal: str) -> Type:
        if type.kind == "reference":
            return UNKNOWN if reaches(type, goal, set()) else type
        if type.kind in ("union", "intersection"):
            combine = union if type.kind == "union" else intersection
            return combine([without(member, goal) for member in type.members])
        return type

    for each in declarations:
        each.type = without(each.type, each.name)
    return declarations


def quote(text: str) -> str:
    """A string of JSON is one of Python."""
    return json.dumps(text, ensure_ascii=False) if text.isprintable() else json.dumps(text)
