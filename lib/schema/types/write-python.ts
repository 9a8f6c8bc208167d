import {
  type ObjectType,
  type Property,
  type Type,
  type TypeDeclaration,
  takeName,
  toTypeName,
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
  const writer = new PythonWriter(new Map(declarations.map(({ name, type }) => [name, type])), taken)
  for (const declaration of declarations)
    writer.declare(declaration.name, declaration.type, declaration.description)
  return writer.blocks.join('\n\n')
}

class PythonWriter {
  readonly blocks: string[] = []
  private readonly types: Map<string, Type>
  private readonly taken: Set<string>

  constructor(types: Map<string, Type>, taken: Set<string>) {
    this.types = types
    this.taken = taken
  }

  declare(name: string, type: Type, description: string | null): void {
    const object = type.kind === 'reference' ? null : this.asObject(type)
    // Reserves the position, so that a type comes before those of its fields.
    const index = this.blocks.push('') - 1
    this.blocks[index] = object?.properties.length
      ? this.declareObject(name, object, description)
      : `${writeComment(description, '')}${name}: TypeAlias = ${quote(this.write(type, name))}\n`
  }

  /** With the class syntax, unless a key cannot be the name of a variable. */
  private declareObject(name: string, { properties }: ObjectType, description: string | null): string {
    if (properties.every((property) => this.isVariable(property.name))) {
      const fields = properties.map(
        (property) =>
          `${writeComment(property.description, '    ')}    ${property.name}: ${this.writeField(property, name)}\n`,
      )
      return `class ${name}(TypedDict):\n${writeDocstring(description)}${fields.join('')}`
    }
    const fields = properties.map(
      (property) =>
        `${writeComment(property.description, '        ')}        ${quote(property.name)}: ${quote(this.writeField(property, name))},\n`,
    )
    return `${writeComment(description, '')}${name} = TypedDict(\n    ${quote(name)},\n    {\n${fields.join('')}    },\n)\n`
  }

  private isVariable(name: string): boolean {
    return IDENTIFIER.test(name) && ![...KEYWORDS, ...BUILT_INS, ...this.taken].includes(name)
  }

  private writeField({ name, type, isRequired }: Property, owner: string): string {
    const text = this.write(type, owner + toTypeName(name))
    return isRequired ? text : `NotRequired[${text}]`
  }

  /** @param path the name of an object type at this position */
  private write(type: Type, path: string): string {
    switch (type.kind) {
      case 'literal':
        return writeLiteral(type.value)
      case 'reference':
        return type.name
      case 'array':
        return `list[${this.write(type.items, `${path}Item`)}]`
      case 'tuple':
        return this.writeTuple(type, path)
      case 'union':
        return this.writeUnion(type.members, path)
      case 'object':
      case 'intersection':
        return this.writeObject(type, path)
      default:
        return PLAIN_TYPES[type.kind]
    }
  }

  /** JSON arrays are lists, whose items have one type. */
  private writeTuple({ items, rest }: Extract<Type, { kind: 'tuple' }>, path: string): string {
    const all = rest ? [...items, rest] : items
    return `list[${all.length > 0 ? this.writeUnion(all, `${path}Item`) : 'NoReturn'}]`
  }

  private writeUnion(members: Type[], path: string): string {
    const texts = [...new Set(members.map((member) => this.write(member, path)))]
    if (texts.includes('Any')) return 'Any'
    const literals = texts.flatMap((text) => /^Literal\[(.*)\]$/s.exec(text)?.[1] ?? [])
    const others = texts.filter((text) => !text.startsWith('Literal['))
    return [...(literals.length > 0 ? [`Literal[${literals.join(', ')}]`] : []), ...others].join(' | ')
  }

  /** An intersection of anything but objects has no type in Python. */
  private writeObject(type: Type, path: string): string {
    const object = this.asObject(type)
    if (!object) return 'Any'
    if (object.properties.length === 0)
      return object.rest ? `dict[str, ${this.write(object.rest, `${path}Value`)}]` : 'dict[str, NoReturn]'
    const name = takeName(path, this.taken)
    this.declare(name, object, null)
    return name
  }

  /** The object type, or that of an intersection of objects, whose fields are those of all. */
  private asObject(type: Type): ObjectType | null {
    if (type.kind === 'object') return type
    if (type.kind === 'reference') return this.asObject(this.types.get(type.name) ?? { kind: 'unknown' })
    if (type.kind !== 'intersection') return null
    const objects = type.members.map((member) => this.asObject(member))
    const fields = new Map<string, Property>()
    for (const object of objects) {
      if (!object) return null
      for (const property of object.properties) {
        const known = fields.get(property.name)
        fields.set(property.name, {
          ...property,
          isRequired: property.isRequired || known?.isRequired === true,
        })
      }
    }
    const isOpen = objects.every((object) => object?.rest)
    return { kind: 'object', properties: [...fields.values()], rest: isOpen ? { kind: 'unknown' } : null }
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
