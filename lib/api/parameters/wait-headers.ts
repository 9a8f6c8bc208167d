import * as z from 'zod/mini'
import { MAX_WAIT_SECONDS } from '../../core/limits.ts'
import { describe } from './parameter.ts'

export const waitHeaders = z.object({
  Prefer: describe(
    z.pipe(z.optional(z.string()), z.transform(parseWait)),
    `\`wait=N\` responds when the execution is final, or after N seconds (at most ${MAX_WAIT_SECONDS}).`,
    { example: 'wait=20' },
  ),
})

/** The seconds to wait (RFC 7240, section 4.3); 0 by default. Unknown preferences are ignored. */
function parseWait(header = ''): number {
  const preferences = header.split(',').map((part) => part.split(';')[0]?.trim() ?? '')
  const wait = preferences.find((part) => /^wait\s*=/i.test(part))
  const seconds = /^wait\s*=\s*(?:(\d{1,9})|"(\d{1,9})")$/i.exec(wait ?? '')
  return Math.min(Number(seconds?.[1] ?? seconds?.[2] ?? 0), MAX_WAIT_SECONDS)
}
