import { expect, it } from 'vitest'
import type { Output } from '../../../agents/redact-pii/agent.types.ts'
import type { Detector } from '../../../agents/redact-pii/entity.ts'

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

/** Runs the detector and returns the matches as text. */
export const findTexts = (detect: Detector, text: string): string[] =>
  detect(text).map(({ start, end }) => text.slice(start, end))

export type Case = [text: string, expected: string[]]

/** What a detector finds in texts, and the texts in which it finds nothing. */
export function testDetector(detect: Detector, found: Case[], nothing: string[]) {
  const cases = [...found, ...nothing.map((text): Case => [text, []])]
  it.each(cases)('finds in %j: %j', (text, expected) => {
    expect(findTexts(detect, text)).toEqual(expected)
  })
}

const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([address]) => address)
const lastLabel = (address: string) => address.slice(address.lastIndexOf('.') + 1)

/** Common email patterns, written independently of the agent. A redacted text must not match them. */
export const SIMPLE_EMAIL_PATTERNS: ((text: string) => string[])[] = [
  (text) => all(text, /[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}/g),
  (text) =>
    all(text, /\b[\w.+-]+@[\w-]+\.[\w.-]+\b/g).filter((address) => /[A-Za-z]/.test(lastLabel(address))),
  (text) => all(text, /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}/gu),
]
