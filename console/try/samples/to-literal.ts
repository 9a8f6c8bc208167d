import type { JsonNode } from '../../schema/json/json-node.ts'

/** How a language writes the values of JSON. */
export type Language = {
  /** One level of indentation. */
  indent: string
  name: (name: string) => string
  text: (text: string) => string
  number: (source: string) => string
  boolean: (value: boolean) => string
  null: string
  /** The parts of an object or a list, between their brackets; `indent` is that of the line. */
  wrap: (brackets: '{}' | '[]', parts: string[], indent: string) => string
}

/** A value as a literal of a language. */
export function toLiteral(node: JsonNode, language: Language, indent: string): string {
  const inner = (child: JsonNode) => toLiteral(child, language, indent + language.indent)
  switch (node.type) {
    case 'object': {
      const parts = node.members.map(({ name, value }) => `${language.name(name)}: ${inner(value)}`)
      return language.wrap('{}', parts, indent)
    }
    case 'array':
      return language.wrap('[]', node.items.map(inner), indent)
    case 'string':
      return language.text(node.value)
    case 'number':
      return language.number(node.source)
    case 'boolean':
      return language.boolean(node.value)
    case 'null':
      return language.null
  }
}
