import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ExecutionSummary } from './execution.ts'
import { isJsonObject } from './json/json.ts'

/** So that it is found where it must not be shown. */
const PREFIX = 'aescb_'
const MAC = new RegExp(`${PREFIX}[\\w-]{43}`, 'g')

/** What a callback URL proves: that the execution has made it, and for this name. */
export const macOf = (secret: string, executionId: string, name: string): string =>
  PREFIX + createHmac('sha256', secret).update(`${executionId}/${name}`).digest('base64url')

export function isMacOf(
  { id, callbackSecret }: Pick<ExecutionSummary, 'id' | 'callbackSecret'>,
  name: string,
  mac: string,
): boolean {
  if (callbackSecret === null) return false
  const [expected, given] = [macOf(callbackSecret, id, name), mac].map((text) => Buffer.from(text))
  return expected?.length === given?.length && timingSafeEqual(expected as Buffer, given as Buffer)
}

/** The MACs in a text. */
export const findMacs = (text: string): string[] => text.match(MAC) ?? []

const maskText = (text: string): string =>
  text.includes(PREFIX) ? text.replace(MAC, '[secret callback]') : text

/** A JSON value without the MACs of callback URLs, which the agent itself gets unchanged. */
export function maskMacs<T>(value: T): T {
  if (typeof value === 'string') return maskText(value) as T
  if (Array.isArray(value)) return value.map(maskMacs) as T
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [maskText(name), maskMacs(member)]),
  ) as T
}
