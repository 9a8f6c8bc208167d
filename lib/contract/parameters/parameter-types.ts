import * as z from 'zod/mini'
import { TENANT_ID } from '../../core/access.ts'
import { isUuid } from '../../core/ids.ts'

/**
 * Schemas of single query parameters and headers, which arrive as text. The same schemas validate requests and describe
 * them in OpenAPI. An error message continues a sentence that begins with the name of the parameter.
 */

/** A schema of query parameters or headers. Its calls are marked as pure: bundles leave out what they do not use. */
export function parameters<Shape extends z.core.$ZodShape>(shape: () => Shape) {
  return z.object(shape())
}

/** `metadata`: JSON Schema keywords that only OpenAPI needs. */
export function describe<Schema extends z.ZodMiniType>(
  schema: Schema,
  description: string,
  metadata: object = {},
) {
  z.globalRegistry.add(schema, { description, ...metadata })
  return schema
}

export function oneOf<const Value extends string>(values: readonly Value[]) {
  return z.enum(values, { error: `must be ${values.slice(0, -1).join(', ')} or ${values.at(-1)}` })
}

/** Some of the values, separated by commas, each at most once. */
export function listOf<const Value extends string>(values: readonly Value[]) {
  const error = `must be a list of ${values.slice(0, -1).join(', ')} and ${values.at(-1)}, separated by commas, each at most once`
  const toItems = (text: string) => (text === '' ? [] : text.split(','))
  const isUnique = (items: string[]) => new Set(items).size === items.length
  const items = z.array(z.enum(values, { error })).check(z.refine(isUnique, { error }))
  return z.optional(z.pipe(z.transform(toItems), items))
}

export function flag() {
  const toBoolean = (text: string) => (text === 'true' ? true : text === 'false' ? false : text)
  return z.optional(z.pipe(z.transform(toBoolean), z.boolean({ error: 'must be true or false' })))
}

/** The default is only documented here: it is applied where the value is used. */
export function integer(range: { min: number; max: number; default?: number }) {
  const error = `must be an integer from ${range.min} to ${range.max}`
  const toNumber = (text: string) => (/^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : Number.NaN)
  const inRange = z.int({ error }).check(z.minimum(range.min, { error }), z.maximum(range.max, { error }))
  if (range.default !== undefined) z.globalRegistry.add(inRange, { default: range.default })
  return z.optional(z.pipe(z.transform(toNumber), inRange))
}

/** A positive decimal number without an exponent. */
export function decimal(range: { min: number; max: number }) {
  const error = `must be a number from ${formatDecimal(range.min)} to ${formatDecimal(range.max)}`
  const toNumber = (text: string) =>
    /^(0|[1-9][0-9]{0,8})(\.[0-9]{1,9})?$/.test(text) ? Number(text) : Number.NaN
  const inRange = z.number({ error }).check(z.minimum(range.min, { error }), z.maximum(range.max, { error }))
  return z.optional(z.pipe(z.transform(toNumber), inRange))
}

const formatDecimal = (value: number): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: 9, useGrouping: false })

export function dateTime() {
  const error = 'must be a date and time with a time zone, such as 2026-11-22T09:30:00Z'
  return z.optional(z.iso.datetime({ offset: true, error }))
}

export const tenantId = () => z.optional(tenant())

export function tenant() {
  const error = 'must have 1 to 128 characters and no control characters'
  return z.string({ error }).check(
    z.regex(TENANT_ID, { error }),
    z.refine((text) => text.isWellFormed(), { error }),
  )
}

/** @param what of the thing that has the ID: `a version` */
export function idOf(what: string, description: string) {
  const text = z.string().check(z.refine(isUuid, { error: `must be ${what} ID (a UUID)` }), z.toLowerCase())
  return describe(z.optional(text), description, { format: 'uuid' })
}

export const deltas = () =>
  describe(
    flag(),
    'Also send what models are writing, as events `delta` (pieces of text, or of the arguments of a tool call) and `reset` (the deltas of a try are void). An event `step` supersedes the deltas of its number. Only with `Accept: text/event-stream`. A reader that has not started the run gets them once a second, from the next heartbeat of its worker on.',
  )

export const time = (description: string) => describe(dateTime(), description, { format: 'date-time' })

export function searchText(description: string, max: number) {
  const error = `must have 1 to ${max} characters`
  const text = z.optional(z.string().check(z.minLength(1, { error }), z.maxLength(max, { error })))
  return describe(text, description, { minLength: 1, maxLength: max })
}

export function agentName(description: string) {
  const text = z.string().check(z.minLength(1, { error: 'must not be empty' }))
  return describe(z.optional(text), description, { minLength: 1 })
}
