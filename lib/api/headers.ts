import { MAX_WAIT_SECONDS } from '../core/limits.ts'
import { type Parameter, text } from './parameter.ts'

export const runHeaders = {
  'Idempotency-Key': text(
    'Any text of the client’s own. For 24 hours, the same key with the same body leads to the same execution.',
    /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/,
    'must have 1 to 255 printable ASCII characters',
  ),
}

const prefer: Parameter<number, number> = {
  description: `\`wait=N\` answers when the execution is final, or after N seconds; ${MAX_WAIT_SECONDS} at most.`,
  schema: { type: 'string', example: 'wait=20' },
  error: '',
  read: waitOf,
  absent: 0,
}

export const waitHeaders = { Prefer: prefer }

/** The seconds that a client prefers to wait (RFC 7240, section 4.3); 0 when it does not say. What is not known is ignored. */
function waitOf(preferred: string): number {
  const preferences = preferred.split(',').map((part) => part.split(';')[0]?.trim() ?? '')
  const wait = preferences.find((part) => /^wait\s*=/i.test(part))
  const seconds = /^wait\s*=\s*(?:(\d{1,9})|"(\d{1,9})")$/i.exec(wait ?? '')
  return Math.min(Number(seconds?.[1] ?? seconds?.[2] ?? 0), MAX_WAIT_SECONDS)
}
