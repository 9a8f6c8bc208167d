import type { RedactPiiOutput } from '../../../agents/redact-pii/agent.ts'

/** The redacted content as the entities promise it: the content's slices between them, joined by the replacements. */
export function rebuild(content: string, { entities }: RedactPiiOutput): string {
  let rebuilt = ''
  let position = 0
  for (const { start, end, replacement } of entities) {
    rebuilt += content.slice(position, start) + replacement
    position = end
  }
  return rebuilt + content.slice(position)
}

/** What is wrong with the offsets: unsorted, overlapping, empty or out of the content. */
export function wrongOffsets(content: string, { entities }: RedactPiiOutput) {
  return entities.filter(
    ({ start, end }, index) =>
      !(start < end && start >= (entities[index - 1]?.end ?? 0) && end <= content.length),
  )
}
