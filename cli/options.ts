import { InvalidArgumentError, Option } from 'commander'
import type * as z from 'zod/mini'
import { runParameters } from '../lib/api/parameters/run-parameters.ts'
import { isUuid } from '../lib/core/ids.ts'

/** `--json` and `--stack` apply to every command, `--org` to most. */
export type SharedOptions = { json?: true | undefined; stack?: string | undefined; org?: string | undefined }

const MAX_NAME_LENGTH = 100
const MAX_LIFETIME_DAYS = 3650
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

/** A parser that checks a value like the query parameter of this name. */
export const parseAs =
  <Name extends 'tenantId' | 'maxAgentSteps' | 'maxTokens' | 'maxCostUsd'>(name: Name) =>
  (text: string): z.output<(typeof runParameters.shape)[Name]> => {
    const { data, error } = runParameters.shape[name].safeParse(text)
    if (error) throw new InvalidArgumentError(`It ${error.issues[0]?.message}.`)
    return data as z.output<(typeof runParameters.shape)[Name]>
  }

/** Parses a number of days. Returns milliseconds. */
export function parseLifetime(text: string): number {
  const days = Number(text)
  if (!/^[0-9]+$/.test(text) || days < 1 || days > MAX_LIFETIME_DAYS) {
    throw new InvalidArgumentError(`It must be a whole number of days from 1 to ${MAX_LIFETIME_DAYS}.`)
  }
  return days * DAY_MS
}
