import { timeOfId as timeOfUuidV7 } from '../../lib/core/ids.ts'
import { findTexts, fold } from '../components/format.ts'

export type Item = {
  kind: string
  title: string
  detail?: string | undefined
  href: string
}

const UUID =
  /(?<![0-9a-f])([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})(?![0-9a-f])/gi

/** `hex`: 32 digits without hyphens, which the ID of an approval has. */
export type PastedId = { uuid: string; hex: string | null }

/** The ID in a text, however it was copied: the last one of a URL, in any case, with spaces or without hyphens. */
export function findId(text: string): PastedId | null {
  const plain = text.replace(/\p{Cf}/gu, '').replace(/[\u2010-\u2015\u2212]/g, '-')
  const matches = [plain, plain.replace(/\s/g, '')].flatMap((each) => [...each.matchAll(UUID)].slice(-1))
  const [match, ...parts] = matches[0] ?? []
  if (match === undefined) return null
  const uuid = parts.join('-').toLowerCase()
  return { uuid, hex: match.includes('-') ? null : match.toLowerCase() }
}

/** The milliseconds since the epoch in a UUIDv7; null for other IDs. */
export const timeOfId = (uuid: string): number | null => (uuid[14] === '7' ? timeOfUuidV7(uuid) : null)

/** The same as `findTexts`; what begins with the query comes first. */
export function matchTexts<T>(items: T[], textOf: (item: T) => string, query: string): T[] {
  const start = fold(query).trim()
  const begins = (item: T) => Number(fold(textOf(item)).startsWith(start))
  return findTexts(items, textOf, query).toSorted((a, b) => begins(b) - begins(a))
}

/** `a, b and c` */
export const formatList = (texts: string[]): string =>
  texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`
