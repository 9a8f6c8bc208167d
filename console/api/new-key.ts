/** A value for the header `Idempotency-Key`. `crypto.randomUUID` exists only on HTTPS and on this machine. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
