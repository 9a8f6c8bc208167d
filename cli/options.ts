import { InvalidArgumentError, Option } from 'commander'
import { runParameters } from '../lib/api/parameters.ts'
import { isUuid } from '../lib/core/ids.ts'

const MAX_NAME = 100
const MAX_DAYS = 3650
const DAY_MS = 24 * 60 * 60 * 1000

export const orgOption = (): Option =>
  new Option(
    '--org <uuid>',
    'the organization; by default the development one, or the only one of the stack',
  ).argParser(toUuid)

export function toUuid(text: string): string {
  if (!isUuid(text)) throw new InvalidArgumentError('It must be a UUID.')
  return text.toLowerCase()
}

export function toName(text: string): string {
  const name = text.trim()
  if (name === '' || name.length > MAX_NAME || /\p{Cc}/u.test(name)) {
    throw new InvalidArgumentError(`It must have 1 to ${MAX_NAME} characters and no control characters.`)
  }
  return name
}

export function toTenantId(text: string): string {
  const { error } = runParameters.shape.tenantId.safeParse(text)
  if (error) throw new InvalidArgumentError(`It ${error.issues[0]?.message}.`)
  return text
}

/** Days, as milliseconds. */
export function toLifetime(text: string): number {
  const days = Number(text)
  if (!/^[0-9]+$/.test(text) || days < 1 || days > MAX_DAYS) {
    throw new InvalidArgumentError(`It must be a whole number of days from 1 to ${MAX_DAYS}.`)
  }
  return days * DAY_MS
}
