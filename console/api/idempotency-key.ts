/** A new `Idempotency-Key`. `crypto.randomUUID` exists only on HTTPS and on this machine. */
export const newIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
