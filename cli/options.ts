import { InvalidArgumentError, Option } from 'commander'
import type * as z from 'zod/mini'
import { messageSchema } from '../lib/contract/bodies/agents.ts'
import { batchParameters } from '../lib/contract/parameters/runs.ts'
import { usageParameters } from '../lib/contract/parameters/usage.ts'
import {
  isScope,
  MAX_OVERLAP_SECONDS,
  MAX_TOKEN_AGENTS,
  MAX_TOKEN_NAME,
  MAX_TOKEN_RATE,
  SCOPES,
  type Scope,
  TOKEN_LIFETIME_DAYS,
} from '../lib/core/access.ts'
import { isSlug, isUuid } from '../lib/core/ids.ts'
import { DAY_MS } from '../lib/core/limits.ts'

/** `--json`, `--stack` and `--create-data-folder` apply to every command, `--url`, `--token` and `--org` to most. */
export type SharedOptions = {
  json?: true | undefined
  stack?: string | undefined
  createDataFolder?: true | undefined
  org?: string | undefined
  url?: string | undefined
  token?: string | undefined
}

const MAX_SHOWN = 1_000

/** A token in the environment does not show up in lists of processes. */
export const TOKEN_VARIABLE = 'AGENTS_TOKEN'

export const urlOption = (): Option =>
  new Option(
    '--url <base>',
    'work over HTTP with the service at this address, without AWS credentials',
  ).argParser(parseUrl)

export const tokenOption = (scope: string): Option =>
  new Option(
    '--token <token>',
    `API token for --url, with the scope ${scope}; default: the variable ${TOKEN_VARIABLE}`,
  )

export const orgOption = (): Option =>
  new Option(
    '--org <uuid>',
    'organization; defaults to the development organization, or to the only one of the stack',
  ).argParser(parseUuid)

/** @param of what names a model: `agent` or `version` */
export const modelOption = (of: string): Option =>
  new Option(
    '--model <name>',
    `model to use instead of the one of the ${of}: {provider}/{model}[:{reasoning}]`,
  )

export function parseUuid(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError('It must be a UUID.')
  return text.toLowerCase()
}

export function parseName(text: string): string {
  const name = text.trim()
  if (name !== '' && name.length <= MAX_TOKEN_NAME && !/\p{Cc}/u.test(name)) return name
  throw new InvalidArgumentError(`It must have 1 to ${MAX_TOKEN_NAME} characters and no control characters.`)
}

export const parseMessage = (text: string): string => parseWith(messageSchema, text.trim())

export function parseUrl(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text
  throw new InvalidArgumentError('It must be an http or https address, such as https://agents.example.com.')
}

/** A parser that checks a value like the query parameter of this name. */
export const parseAs =
  <Name extends Exclude<keyof typeof batchParameters.shape, 'execMode'>>(name: Name) =>
  (text: string): z.output<(typeof batchParameters.shape)[Name]> =>
    parseWith(batchParameters.shape[name], text) as z.output<(typeof batchParameters.shape)[Name]>

/** @throws InvalidArgumentError */
export function parseWith<Schema extends z.ZodMiniType>(schema: Schema, value: unknown): z.output<Schema> {
  const { data, error } = schema.safeParse(value)
  if (error) throw new InvalidArgumentError(`It ${error.issues[0]?.message}.`)
  return data
}

/** A date is its beginning in UTC. */
export const parseTime = (text: string): string | undefined =>
  parseWith(usageParameters.shape.from, /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text)

/** The items of a comma-separated list, each once. */
export const parseList = (text: string): string[] => [...new Set(text.split(',').map((item) => item.trim()))]

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

export function parseLimit(text: string): number {
  if (/^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_SHOWN) return Number(text)
  throw new InvalidArgumentError(`It must be an integer from 1 to ${MAX_SHOWN}.`)
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
  if (!/^[0-9]+$/.test(text) || days < 1 || days > TOKEN_LIFETIME_DAYS.max) {
    throw new InvalidArgumentError(
      `It must be a whole number of days from 1 to ${TOKEN_LIFETIME_DAYS.max}. Use never for a token that does not expire.`,
    )
  }
  return days * DAY_MS
}

const SECONDS_OF = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** Parses a time such as `24h`, or `none`. Returns seconds. */
export function parseOverlap(text: string): number {
  if (text === 'none') return 0
  const [, number, unit] = /^([1-9]\d{0,6})([smhd])$/.exec(text) ?? []
  const seconds = Number(number) * SECONDS_OF[(unit ?? 's') as keyof typeof SECONDS_OF]
  if (seconds <= MAX_OVERLAP_SECONDS) return seconds
  throw new InvalidArgumentError('It must be a time of at most 30 days, such as 30m, 24h or 7d, or none.')
}
