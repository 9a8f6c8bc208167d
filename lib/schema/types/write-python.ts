import {
  type ObjectType,
  type Property,
  type Type,
  type TypeDeclaration,
  takeName,
  toTypeName,
  UNKNOWN,
} from './type.ts'

/** Names that the written module imports or that Python reserves for values. */
export const PYTHON_NAMES = [
  ...['Any', 'Literal', 'NoReturn', 'NotRequired', 'TypeAlias', 'TypedDict'],
  ...['None', 'True', 'False'],
]

/** What the declarations of `writePython` need. `NotRequired` is part of `typing` from Python 3.11 on. */
export const PYTHON_IMPORTS = `from __future__ import annotations

from typing import Any, Literal, NoReturn, NotRequired, TypeAlias, TypedDict
`

const PLAIN_TYPES = {
  ...{ unknown: 'Any', never: 'NoReturn', null: 'None' },
  ...{ string: 'str', number: 'float', integer: 'int', boolean: 'bool' },
}

/** https://docs.python.org/3/reference/lexical_analysis.html#keywords */
const KEYWORDS = (
  'False None True and as assert async await break class continue def del elif else except finally for from ' +
  'global if import in is lambda nonlocal not or pass raise return try while with yield'
).split(' ')
/** In a class, names that begin with two underscores are mangled, and a field hides the type of the same name. */
const IDENTIFIER = /^(?!__)[A-Za-z_][A-Za-z0-9_]*$/
const BUILT_INS = ['bool', 'dict', 'float', 'int', 'list', 'str']

/**
 * Writes objects as a `TypedDict` each, and other types as an alias. A `TypedDict` has no undeclared keys; where a type
 * of Python cannot say what the schema says, it allows more.
 * @param taken names of the same module, to which those of nested objects are added
 */
export function writePython(declarations: TypeDeclaration[], taken: Set<string>): string {
  const types = new Map(declarations.map(({ name, type }) => [name, type]))
  const blocks: string[] = []
  for (const { name, type, description } of declarations) declare(name, type, description)
  return blocks.join('\n\n')

  function declare(name: string, type: Type, description: string | null): void {
    const object = type.kind === 'reference' ? null : asObject(type)
    // Reserves the position, so that a type comes before those of its fields.
    const index = blocks.push('') - 1
    blocks[index] = object?.properties.length
      ? declareObject(name, object, description)
      : `${writeComment(description, '')}${name}: TypeAlias = ${quote(write(type, name))}\n`
  }

  /** With the class syntax, unless a key cannot be the name of a variable. */
  function declareObject(name: string, { properties }: ObjectType, description: string | null): string {
    const writeFields = (indent: string, writeField: (field: string, type: string) => string) =>
      properties
        .map((property) => {
          const field = writeField(property.name, writePropertyType(property, name))
          return `${writeComment(property.description, indent)}${indent}${field}\n`
        })
        .join('')
    if (properties.every((property) => isVariable(property.name))) {
      const fields = writeFields('    ', (field, type) => `${field}: ${type}`)
      return `class ${name}(TypedDict):\n${writeDocstring(description)}${fields}`
    }
    const fields = writeFields('        ', (field, type) => `${quote(field)}: ${quote(type)},`)
    return `${writeComment(description, '')}${name} = TypedDict(\n    ${quote(name)},\n    {\n${fields}    },\n)\n`
  }

  function isVariable(name: string): boolean {
    return IDENTIFIER.test(name) && ![...KEYWORDS, ...BUILT_INS, ...taken].includes(name)
  }

  function writePropertyType({ name, type, isRequired }: Property, owner: string): string {
    const text = write(type, owner + toTypeName(name))
    return isRequired ? text : `NotRequired[${text}]`
  }

  /** @param path the name of an object type at this position */
  function write(type: Type, path: string): string {
    switch (type.kind) {
      case 'literal':
        return writeLiteral(type.value)
      case 'reference':
        return type.name
      case 'array':
        return `list[${write(type.items, `${path}Item`)}]`
      case 'tuple':
        return writeTuple(type, path)
      case 'union':
        return writeUnion(type.members, path)
      case 'object':
      case 'intersection':
        return writeObject(type, path)
      default:
        return PLAIN_TYPES[type.kind]
    }
  }

  /** JSON arrays are lists, whose items have one type. */
  function writeTuple({ items, rest }: Extract<Type, { kind: 'tuple' }>, path: string): string {
    const all = rest ? [...items, rest] : items
    return `list[${all.length > 0 ? writeUnion(all, `${path}Item`) : 'NoReturn'}]`
  }

  function writeUnion(members: Type[], path: string): string {
    const texts = [...new Set(members.map((member) => write(member, path)))]
    if (texts.includes('Any')) return 'Any'
    const literals = texts.flatMap((text) => /^Literal\[(.*)\]$/s.exec(text)?.[1] ?? [])
    const others = texts.filter((text) => !text.startsWith('Literal['))
    return [...(literals.length > 0 ? [`Literal[${literals.join(', ')}]`] : []), ...others].join(' | ')
  }

  /** An intersection of anything but objects has no type in Python. */
  function writeObject(type: Type, path: string): string {
    const object = asObject(type)
    if (!object) return 'Any'
    if (object.properties.length === 0)
      return object.rest ? `dict[str, ${write(object.rest, `${path}Value`)}]` : 'dict[str, NoReturn]'
    const name = takeName(path, taken)
    declare(name, object, null)
    return name
  }

  /** The object type, or that of an intersection of objects, whose fields are those of all. */
  function asObject(type: Type): ObjectType | null {
    if (type.kind === 'object') return type
    if (type.kind === 'reference') return asObject(types.get(type.name) ?? UNKNOWN)
    if (type.kind !== 'intersection') return null
    const objects = type.members.map(asObject)
    if (!objects.every((object) => object !== null)) return null
    const fields = new Map<string, Property>()
    for (const property of objects.flatMap(({ properties }) => properties)) {
      const isRequired = property.isRequired || fields.get(property.name)?.isRequired === true
      fields.set(property.name, { ...property, isRequired })
    }
    const isOpen = objects.every(({ rest }) => rest)
    return { kind: 'object', properties: [...fields.values()], rest: isOpen ? UNKNOWN : null }
  }
}

/** `Literal` takes no fractions. */
function writeLiteral(value: string | number | boolean | null): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'Literal[True]' : 'Literal[False]'
  if (typeof value === 'string') return `Literal[${quote(value)}]`
  return Number.isSafeInteger(value) ? `Literal[${value}]` : 'float'
}

/** A string of JSON is one of Python. */
const quote = (text: string): string => JSON.stringify(text)

const toLines = (text: string | null): string[] => text?.trim().split(/\r\n|[\r\n\u2028\u2029\f\v]/) ?? []

const writeComment = (text: string | null, indent: string): string =>
  toLines(text)
    .map((line) => `${`${indent}# ${line}`.trimEnd()}\n`)
    .join('')

function writeDocstring(text: string | null): string {
  if (!text?.trim()) return ''
  const escaped = toLines(text.replaceAll('\\', '\\\\').replaceAll('"', '\\"'))
  return `    """${escaped.join('\n    ')}"""\n\n`
}
