import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { toTypes } from '../../../lib/schema/types/to-types.ts'
import { PYTHON_NAMES, writePython } from '../../../lib/schema/types/write-python.ts'

/** `npm run examples` checks with mypy that such types are valid. */
function typesOf(declared: JsonObject): string {
  const taken = new Set(PYTHON_NAMES)
  return writePython(toTypes(declared, { name: 'Value', taken }), taken)
}

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
})

describe('writePython', () => {
  it('writes a class for each object, with descriptions and optional fields', () => {
    const declared = {
      text: { type: 'string', description: 'The text.\nIn any language.' },
      mode: { type: 'string', enum: ['fast', 'it"s'], default: 'fast' },
      lines: {
        type: 'array',
        items: { type: 'object', properties: { number: { type: 'number' }, note: { type: 'null' } } },
      },
    }
    expect(typesOf(declared)).toBe(`class Value(TypedDict):
    # The text.
    # In any language.
    text: str
    mode: NotRequired[Literal["fast", "it\\"s"]]
    lines: list[ValueLinesItem]


class ValueLinesItem(TypedDict):
    number: float
    note: None
`)
  })

  it('quotes keys that are not names, keywords, and names of types', () => {
    const schema = object(
      { 'max-words': { type: 'integer' }, str: { type: 'string' } },
      { required: ['str'] },
    )
    expect(typesOf(schema)).toBe(`Value = TypedDict(
    "Value",
    {
        "max-words": "NotRequired[int]",
        "str": "str",
    },
)
`)
    for (const name of ['class', 'Any', '__hidden', 'Value', 'list', '1st', ''])
      expect(typesOf(object({ [name]: { type: 'string' } })), name).toContain(`"${name}": "str"`)
  })

  it('writes what is not an object as an alias', () => {
    expect(
      typesOf({ $schema: 'x', anyOf: [{ type: 'string' }, { const: 1.5 }, { enum: [true, null, 7] }] }),
    ).toBe('Value: TypeAlias = "Literal[True, 7] | str | float | None"\n')
    expect(typesOf({ type: 'object' })).toBe('Value: TypeAlias = "dict[str, Any]"\n')
    expect(typesOf({ type: 'object', additionalProperties: { type: 'integer' } })).toBe(
      'Value: TypeAlias = "dict[str, int]"\n',
    )
  })

  it('writes recursive types, tuples as lists, and the fields of an intersection', () => {
    const schema = object(
      {
        tree: { $ref: '#/$defs/tree' },
        pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false },
        both: {
          allOf: [object({ a: { type: 'string' } }), object({ b: { type: 'string' } }, { required: [] })],
        },
      },
      { $defs: { tree: object({ children: { type: 'array', items: { $ref: '#/$defs/tree' } } }) } },
    )
    expect(typesOf(schema)).toBe(`class Value(TypedDict):
    tree: ValueTree
    pair: list[str | int]
    both: ValueBoth


class ValueBoth(TypedDict):
    a: str
    b: NotRequired[str]


class ValueTree(TypedDict):
    children: list[ValueTree]
`)
  })

  it('does not let a description end its docstring', () => {
    const text = typesOf(object({ a: {} }, { description: 'Ends: """\nimport os \\' }))
    expect(text).toBe(`class Value(TypedDict):
    """Ends: \\"\\"\\"
    import os \\\\"""

    a: Any
`)
  })
})
