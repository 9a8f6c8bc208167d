import * as z from 'zod'
import { MAX_WAIT_SECONDS } from '../core/limits.ts'

const KEY_ERROR = 'must have 1 to 255 printable ASCII characters'

export const runHeaders = z.object({
  'Idempotency-Key': z
    .string()
    .regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/, { error: KEY_ERROR })
    .optional()
    .meta({
      description:
        'Any text of the client’s own. For 24 hours, the same key with the same body leads to the same execution.',
    }),
})

export const waitHeaders = z.object({
  Prefer: z
    .string()
    .optional()
    .transform(waitOf)
    .meta({
      description: `\`wait=N\` answers when the execution is final, or after N seconds; ${MAX_WAIT_SECONDS} at most.`,
      override: ({ jsonSchema }) => {
        jsonSchema.type = 'string'
        jsonSchema.example = 'wait=20'
      },
    }),
})

/** The seconds that a client prefers to wait (RFC 7240, section 4.3); 0 when it does not say. What is not known is ignored. */
function waitOf(prefer: string | undefined): number {
  const preferences = (prefer ?? '').split(',').map((text) => text.split(';')[0]?.trim() ?? '')
  const wait = preferences.find((text) => /^wait\s*=/i.test(text))
  const seconds = /^wait\s*=\s*(?:(\d{1,9})|"(\d{1,9})")$/i.exec(wait ?? '')
  return Math.min(Number(seconds?.[1] ?? seconds?.[2] ?? 0), MAX_WAIT_SECONDS)
}
