import type * as z from 'zod'
import { isJsonObject } from '../../core/json/json.ts'
import type { SchemaProblem } from '../../schema/check-declared-schema.ts'
import { BOUNDS } from '../../schema/field-map.ts'
import { withArticle } from '../../schema/message-text.ts'
import { findSimilarName } from '../../schema/similar-names.ts'
import { getKnownToolFields } from '../../tools/document/tool-fields.ts'
import {
  contextSchema,
  documentSchema,
  learningSchema,
  modelObjectSchema,
  promotionSchema,
  scoreGateSchema,
  settingsSchema,
} from './document.ts'
import { keySchema } from './keys-schema.ts'
import { getKnownRemoteFields } from './remote-schema.ts'
import { namedScheduleSchema, scheduleOptionsSchema, scheduleSchema } from './schedules-schema.ts'
import { scorerSchema } from './scorers-schema.ts'

const FIELD_KEYS = [
  ...'type description required enum items properties default mediaTypes maxBytes'.split(' '),
  ...Object.keys(BOUNDS),
]

type ExplainIssue = (issue: z.core.$ZodIssue) => SchemaProblem[]

/**
 * Converts a zod issue to one problem per field. The issue must contain its input (`reportInput`).
 * @param getKnownFields the names that are allowed at a path
 */
export const explainWith =
  (getKnownFields: (path: PropertyKey[]) => string[]): ExplainIssue =>
  (issue) => {
    if (issue.code !== 'unrecognized_keys') return [{ path: issue.path, message: toMessage(issue) }]
    const known = getKnownFields(issue.path)
    return issue.keys.map((key) => ({
      path: [...issue.path, key],
      message: `unknown field${getHint(key, issue.input, known)}`,
    }))
  }

/** For issues of `documentSchema`. */
export const explainIssue: ExplainIssue = (issue) => explainWith(getKnownFields)(issue)

function toMessage(issue: z.core.$ZodIssue): string {
  const { input } = issue
  switch (issue.code) {
    case 'invalid_type':
      return mustBe(describeType(issue), input)
    case 'invalid_value':
      return mustBe(`one of ${issue.values.join(', ')}`, input) + (suggest(input, issue.values) ?? '')
    case 'too_small':
      return isSized(issue.origin) && issue.minimum === 1
        ? 'must not be empty'
        : `must ${describeLimit('at least', issue.origin, issue.minimum)}`
    case 'too_big':
      return `must ${describeLimit('at most', issue.origin, issue.maximum)}`
    case 'custom':
      return input === undefined ? `is required and ${issue.message}` : issue.message
    default:
      return issue.message
  }
}

function mustBe(expected: string, input: unknown): string {
  if (input === undefined) return `is required and must be ${expected}`
  return `must be ${expected}, ${input === null ? 'but is empty' : `not ${describeInput(input)}`}`
}

function describeType({ path, expected }: z.core.$ZodIssueInvalidType): string {
  const isField = path[0] === 'input' || path[0] === 'output'
  if (isField && expected === 'object') return 'an object such as { type: string, description: … }'
  if (expected === 'int') return withArticle('integer')
  return withArticle(expected === 'record' ? 'object' : expected)
}

function describeInput(input: unknown): string {
  if (typeof input === 'object') return withArticle(Array.isArray(input) ? 'array' : 'object')
  const text = JSON.stringify(input) ?? String(input)
  return text.length > 60 ? withArticle(typeof input) : text
}

const isSized = (origin: string) => origin === 'string' || origin === 'array'

function describeLimit(bound: 'at least' | 'at most', origin: string, limit: number | bigint): string {
  if (!isSized(origin)) return `be ${bound} ${limit}`
  return `have ${bound} ${limit} ${origin === 'string' ? 'characters' : 'items'}`
}

function getKnownFields(path: PropertyKey[]): string[] {
  if (path.length === 0) return Object.keys(documentSchema.shape)
  if (path[0] === 'tools') return getKnownToolFields(path.slice(2)) ?? FIELD_KEYS
  if (path[0] === 'context') return Object.keys(contextSchema.shape)
  if (path[0] === 'learning') return Object.keys(learningSchema.shape)
  if (path[0] === 'schedules') return getKnownScheduleFields(path.slice(1))
  if (path[0] === 'keys') return Object.keys(keySchema.shape)
  if (path[0] === 'scorers') return Object.keys(scorerSchema.shape)
  if (path[0] === 'remote') return getKnownRemoteFields(path.slice(1))
  if (path[0] === 'model') return Object.keys(modelObjectSchema.shape)
  if (path[0] !== 'execution') return FIELD_KEYS
  if (path[1] !== 'promotion') return Object.keys(settingsSchema.shape)
  return Object.keys((path[2] === 'scores' ? scoreGateSchema : promotionSchema).shape)
}

/** @param path from the map or the list of schedules on */
function getKnownScheduleFields([schedule, field]: PropertyKey[]): string[] {
  if (field === 'options') return Object.keys(scheduleOptionsSchema.shape)
  const { shape } = typeof schedule === 'number' ? namedScheduleSchema : scheduleSchema
  return Object.keys(shape)
}

/** In `{ description: One, or two. }` YAML ends the string at the comma: "or two." is a key without a value. */
function getHint(key: string, input: unknown, known: string[]): string {
  const isCutString = isJsonObject(input) && input[key] === null && !known.includes(key)
  if (isCutString) return '; a string that contains a comma must be quoted here'
  return suggest(key, known) ?? `; allowed fields: ${known.join(', ')}`
}

function suggest(text: unknown, candidates: readonly unknown[]): string | null {
  if (typeof text !== 'string') return null
  const similar = findSimilarName(text, candidates.map(String))
  return similar === undefined ? null : `; did you mean "${similar}"?`
}
