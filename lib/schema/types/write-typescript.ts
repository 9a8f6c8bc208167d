import {
  type Annotations,
  type ObjectType,
  type Property,
  type Type,
  type TypeDeclaration,
  UNKNOWN,
  union,
} from './type.ts'

const MAX_LINE = 100
const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/

/** Writes exported type aliases: unlike interfaces, they can be assigned to types with an index signature. */
export function writeTypeScript(declarations: TypeDeclaration[]): string {
  return declarations
    .map(
      (declaration) =>
        `${writeComment(declaration, '')}export type ${declaration.name} = ${write(declaration.type, '')}\n`,
    )
    .join('\n')
    .replaceAll(/ +\n/g, '\n')
}

function write(type: Type, indent: string): string {
  switch (type.kind) {
    case 'integer':
      return 'number'
    case 'literal':
      return typeof type.value === 'string' ? quote(type.value) : JSON.stringify(type.value)
    case 'reference':
      return type.name
    case 'object':
      return writeObject(type, indent)
    case 'array':
      return `${writeOperand(type.items, indent)}[]`
    case 'tuple':
      return writeTuple(type, indent)
    case 'union':
    case 'intersection':
      return writeMembers(type, indent)
    default:
      return type.kind
  }
}

function writeMembers({ kind, members }: Extract<Type, { members: Type[] }>, indent: string): string {
  const operator = kind === 'union' ? '|' : '&'
  const parts = members.map((member) => writeOperand(member, indent))
  const line = parts.join(` ${operator} `)
  if (line.includes('\n') || line.length <= MAX_LINE) return line
  return parts.map((part) => `\n${indent}  ${operator} ${part}`).join('')
}

/** In parentheses where an operator follows or precedes. */
function writeOperand(type: Type, indent: string): string {
  const text = write(type, indent)
  if (type.kind !== 'union' && type.kind !== 'intersection') return text
  return text.startsWith('\n') ? `(${text}\n${indent})` : `(${text})`
}

function writeTuple({ items, minItems, rest }: Extract<Type, { kind: 'tuple' }>, indent: string): string {
  const first = items.map((item, index) =>
    index < minItems ? write(item, indent) : `${writeOperand(item, indent)}?`,
  )
  return `[${[...first, ...(rest ? [`...${writeOperand(rest, indent)}[]`] : [])].join(', ')}]`
}

function writeObject({ properties, rest }: ObjectType, indent: string): string {
  if (properties.length === 0) return `{ [key: string]: ${rest ? write(rest, indent) : 'never'} }`
  const inner = `${indent}  `
  const fields = properties.map(
    (property) =>
      `${writeComment(property, inner)}${inner}${writeName(property)}: ${write(typeOf(property), inner)}\n`,
  )
  const index = rest ? `${inner}[key: string]: ${writeIndex(properties, rest, inner)}\n` : ''
  return `{\n${fields.join('')}${index}${indent}}`
}

/** TypeScript takes an optional property that is omitted for the method of every object: `constructor`, `toString`. */
const typeOf = ({ name, type, isRequired }: Property): Type =>
  !isRequired && Object.hasOwn(Object.prototype, name) ? UNKNOWN : type

/** An index signature has to include the types of the declared properties. */
function writeIndex(properties: Property[], rest: Type, indent: string): string {
  const type = union([rest, ...properties.map(typeOf)])
  const text = write(type, indent)
  return type.kind !== 'unknown' && properties.some(({ isRequired }) => !isRequired)
    ? `${text} | undefined`
    : text
}

const writeName = ({ name, isRequired }: Property): string =>
  `${IDENTIFIER.test(name) ? name : quote(name)}${isRequired ? '' : '?'}`

/** A string literal; JSON escapes quotation marks, and everything else that has to be. */
const quote = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

function writeComment(
  { description, default: defaultValue, isDeprecated }: Annotations,
  indent: string,
): string {
  const text = [
    ...(description?.trim() ? [description.trim()] : []),
    ...(defaultValue === undefined ? [] : [`@default ${JSON.stringify(defaultValue)}`]),
    ...(isDeprecated ? ['@deprecated'] : []),
  ].join('\n')
  if (text === '') return ''
  const lines = text.replaceAll('*/', '*\\/').split(/\r\n|[\r\n\u2028\u2029]/)
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`
}
