import type { Input, Output } from './agent.types.ts'
import type { Entity } from './entity.ts'
import { findEntities } from './find-entities.ts'

/**
 * Replaces the personal data in `content` with placeholders.
 * @throws TypeError when `content` is not a string
 */
export default function run(input: Input): Output {
  const content: unknown = input?.content
  if (typeof content !== 'string') {
    const actual = content === null ? 'null' : Array.isArray(content) ? 'an array' : typeof content
    throw new TypeError(`"content" must be a string. Received ${actual}.`)
  }
  const entities = findEntities(content)
  return { redactedContent: replaceEntities(content, entities), entities }
}

function replaceEntities(content: string, entities: Entity[]): string {
  const parts: string[] = []
  let position = 0
  for (const { start, end, replacement } of entities) {
    parts.push(content.slice(position, start), replacement)
    position = end
  }
  parts.push(content.slice(position))
  return parts.join('')
}
