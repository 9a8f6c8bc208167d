import { InvalidArgumentError, Option } from 'commander'
import type * as z from 'zod/mini'
import { runParameters } from '../lib/api/parameters.ts'
import { messageSchema } from '../lib/api/schemas/bodies.ts'
import { isScope, MAX_TOKEN_AGENTS, MAX_TOKEN_RATE, SCOPES, type Scope } from '../lib/core/access.ts'
import { isSlug, isUuid } from '../lib/core/ids.ts'

/** `--json` and `--stack` apply to every command, `--org` to most. */
export type SharedOptions = { json?: true | undefined; stack?: string | undefined; org?: string | undefined }

const MAX_NAME_LENGTH = 100
const MAX_LIFETIME_DAYS = 3650
/** Of a token that is created without `--expires`. */
export const DEFAULT_LIFETIME_DAYS = 90
const DAY_MS = 24 * 60 * 60 * 1000

export const orgOption = (): Option =>
  new Option(
    '--org <uuid>',
    'organization; defaults to the development organization, or to the only one of the stack',
  ).argParser(parseUuid)

export function parseUuid(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError('It must be a UUID.')
  return text.toLowerCase()
}

export function parseName(text: string): string {
  const name = text.trim()
  if (name === '' || name.length > MAX_NAME_LENGTH || /\p{Cc}/u.test(name)) {
    throw new InvalidArgumentError(
      `It must have 1 to ${MAX_NAME_LENGTH} characters and no control characters.`,
    )
  }
  return name
}

export function parseMessage(text: string): string {
  const { data, error } = messageSchema.safeParse(text.trim())
  if (error) throw new InvalidArgumentError(`It ${error.issues[0]?.message}.`)
  return data
}

export function parseUrl(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text
  throw new InvalidArgumentError('It must be an http or https address, such as https://agents.example.com.')
}

/** A parser that checks a value like the query parameter of this name. */
export const parseAs =
  <Name extends 'tenantId' | 'maxAgentSteps' | 'maxTokens' | 'maxCostUsd'>(name: Name) =>
  (text: string): z.output<(typeof runParameters.shape)[Name]> => {
    const { data, error } = runParameters.shape[name].safeParse(text)
    if (error) throw new InvalidArgumentError(`It ${error.issues[0]?.message}.`)
    return data as z.output<(typeof runParameters.shape)[Name]>
  }

/** Parses a comma-separated list without empty or repeated items. */
function parseList(text: string): string[] {
  const items = text.split(',').map((item) => item.trim())
  return [...new Set(items)]
}

export function parseScopes(text: string): Scope[] {
  const scopes = parseList(text)
  if (!scopes.every(isScope))
    throw new InvalidArgumentError(`It must be one or more of ${SCOPES.join(', ')}, separated by commas.`)
  return scopes
}

export function parseAgents(text: string): string[] {
  const agents = parseList(text)
  const invalid = agents.find((agent) => !isUuid(agent) && !isSlug(agent))
  if (invalid !== undefined)
    throw new InvalidArgumentError(
      `"${invalid}" is neither a slug nor an ID. It must be slugs or IDs of agents, separated by commas.`,
    )
  if (agents.length > MAX_TOKEN_AGENTS)
    throw new InvalidArgumentError(`It must have at most ${MAX_TOKEN_AGENTS} agents.`)
  return agents
}

/** Parses requests per second, such as `10/s`. */
export function parseRate(text: string): number {
  const rate = Number(/^([1-9][0-9]{0,3})\/s$/.exec(text)?.[1])
  if (rate <= MAX_TOKEN_RATE) return rate
  throw new InvalidArgumentError(
    `It must be requests per second, from 1/s to ${MAX_TOKEN_RATE}/s, such as 10/s.`,
  )
}

/** Parses a number of days, or `never`. Returns milliseconds, infinity for never. */
export function parseLifetime(text: string): number {
  if (text === 'never') return Number.POSITIVE_INFINITY
  const days = Number(text)
  if (!/^[0-9]+$/.test(text) || days < 1 || days > MAX_LIFETIME_DAYS) {
    throw new InvalidArgumentError(
      `It must be a whole number of days from 1 to ${MAX_LIFETIME_DAYS}. Use never for a token that does not expire.`,
    )
  }
  return days * DAY_MS
}
