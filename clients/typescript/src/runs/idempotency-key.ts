/** 128 random bits. `crypto.randomUUID` is missing on pages without TLS, and `crypto` itself in Node 18. */
export function newIdempotencyKey(): string {
  const bytes = Array.from({ length: 16 }, () => Math.floor(Math.random() * 256))
  const random = globalThis.crypto?.getRandomValues(new Uint8Array(16)) ?? bytes
  return Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
