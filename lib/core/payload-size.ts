import { MAX_PAYLOAD_BYTES } from './limits.ts'

/** The error of a payload that is too large: an output, or the result of a step. Null for any other one. */
export function findExcess(title: string, json: string): { code: 'OutputTooLarge'; message: string } | null {
  // The characters of a text that is far too long are enough.
  const bytes = json.length > MAX_PAYLOAD_BYTES ? json.length : Buffer.byteLength(json)
  if (bytes <= MAX_PAYLOAD_BYTES) return null
  return {
    code: 'OutputTooLarge',
    message: `${title} has ${bytes} bytes; the limit is ${MAX_PAYLOAD_BYTES}.`,
  }
}
