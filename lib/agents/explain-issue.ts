import { closest, distance } from 'fastest-levenshtein'
import type * as z from 'zod'
import { isJsonObject } from '../core/json.ts'
import { knownToolKeys } from '../tools/tool-document.ts'
import { documentSchema, settingsSchema } from './document.ts'

/** What is wrong at a place of the front matter, worded to be read after the field's name. */
export type Finding = { path: PropertyKey[]; message: string }

const FIELD_KEYS = ['type', 'description', 'required', 'enum', 'items', 'properties', 'default']

const EXPECTED: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping of names to values',
  record: 'a mapping of names to values',
}

/** The findings of one issue, one for each field concerned. The issue must carry its input (`reportInput`). */
export function explainIssue(issue: z.core.$ZodIssue): Finding[] {
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(issue.path)
    return issue.keys.map((key) => ({
      path: [...issue.path, key],
      message: `is not a known field${hint(key, issue.input, known)}`,
    }))
  }
  return [{ path: issue.path, message: messageOf(issue) }]
}

function messageOf(issue: z.core.$ZodIssue): string {
  const { input } = issue
  switch (issue.code) {
    case 'invalid_type':
      return `${shown(input)}; it must be ${expected(issue)}`
    case 'invalid_value':
      return `${shown(input)}; it must be one of ${issue.values.join(', ')}${suggestion(input, issue.values) ?? ''}`
    case 'too_small':
      return `must ${isSized(issue.origin) && issue.minimum === 1 ? 'not be empty' : bound('least', issue.origin, issue.minimum)}`
    case 'too_big':
      return `must ${bound('most', issue.origin, issue.maximum)}`
    case 'custom':
      return input === undefined ? `is missing; it ${issue.message}` : issue.message
    default:
      return issue.message
  }
}

function expected({ path, expected }: z.core.$ZodIssueInvalidType): string {
  const isField = path[0] === 'input' || path[0] === 'output'
  if (isField && expected === 'object') return 'a mapping such as { type: string, description: … }'
  return EXPECTED[expected] ?? expected
}

function shown(input: unknown): string {
  if (input === undefined) return 'is missing'
  if (input === null) return 'is empty'
  if (typeof input === 'object') return Array.isArray(input) ? 'is a list' : 'is a mapping'
  const text = JSON.stringify(input) ?? String(input)
  return text.length > 60 ? `is a ${typeof input}` : `is ${text}`
}

const isSized = (origin: string) => origin === 'string' || origin === 'array'

function bound(side: 'least' | 'most', origin: string, limit: number | bigint): string {
  if (!isSized(origin)) return `be at ${side} ${limit}`
  return `have at ${side} ${limit} ${origin === 'string' ? 'characters' : 'entries'}`
}

function knownKeys(path: PropertyKey[]): string[] {
  if (path.length === 0) return Object.keys(documentSchema.shape)
  if (path[0] === 'tools') return knownToolKeys(path.slice(2)) ?? FIELD_KEYS
  return path[0] === 'execution' ? Object.keys(settingsSchema.shape) : FIELD_KEYS
}

/** In `{ description: a text, and more }` the comma ends the text, and "and more" becomes a name without a value. */
function hint(key: string, given: unknown, known: string[]): string {
  const isCutText = isJsonObject(given) && given[key] === null && !known.includes(key)
  if (isCutText) return '; a text that holds a comma must stand in quotes here'
  return suggestion(key, known) ?? `; known ones are ${known.join(', ')}`
}

/** The nearest of the candidates, when it is near enough to have been meant. */
function suggestion(text: unknown, candidates: readonly unknown[]): string | null {
  if (typeof text !== 'string') return null
  const nearest = closest(text, candidates.map(String))
  return distance(text, nearest) <= Math.max(2, text.length / 3) ? `; did you mean "${nearest}"?` : null
}
