import type { Output } from '../../../agents/redact-pii/agent.types.ts'

/** Applies the entities to the content. The result must equal `redactedContent`. */
export function redactWith(content: string, { entities }: Output): string {
  let redacted = ''
  let position = 0
  for (const { start, end, replacement } of entities) {
    redacted += content.slice(position, start) + replacement
    position = end
  }
  return redacted + content.slice(position)
}

/** Returns the entities that are empty, unsorted, overlapping or outside the content. */
export function findInvalidOffsets(content: string, { entities }: Output) {
  return entities.filter(
    ({ start, end }, index) =>
      !(start < end && start >= (entities[index - 1]?.end ?? 0) && end <= content.length),
  )
}
