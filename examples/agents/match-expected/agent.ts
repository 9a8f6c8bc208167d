import type { Input, Output } from './agent.types.ts'

export default function run({ output, expected }: Input): Output {
  const [given, wanted] = [wordsOf(output), wordsOf(expected)]
  const missing = without(wanted, given)
  const additional = without(given, wanted)
  const shared = wanted.length - missing.length
  const total = given.length + wanted.length
  return {
    score: total === 0 ? 1 : (2 * shared) / total,
    reason: [describe('Missing', missing), describe('Additional', additional)].join(' ').trim(),
  }
}

/** The words of all values in lower case. */
const wordsOf = (value: unknown): string[] =>
  typeof value === 'object' && value !== null
    ? Object.values(value).flatMap(wordsOf)
    : (String(value)
        .toLowerCase()
        .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])

/** The words of a list that the other list does not have as often. */
function without(words: string[], others: string[]): string[] {
  const counts = new Map<string, number>()
  for (const word of others) counts.set(word, (counts.get(word) ?? 0) + 1)
  return words.filter((word) => {
    const count = counts.get(word) ?? 0
    counts.set(word, count - 1)
    return count <= 0
  })
}

const MAX_WORDS = 10

const describe = (title: string, words: string[]): string =>
  words.length === 0
    ? ''
    : `${title}: ${words.slice(0, MAX_WORDS).join(', ')}${words.length > MAX_WORDS ? ', …' : ''}.`
