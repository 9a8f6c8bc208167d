import { createHash, randomBytes } from 'node:crypto'
import type { Token } from '../core/agent.ts'
import type { System, TokenStore } from '../core/ports.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_BYTES = 32
/** 62^43 is the first power of 62 beyond 2^256. */
const RANDOM_CHARACTERS = 43

/** RFC 6750, section 2.1: the scheme, in any case, and a b64token. */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i
const MAX_HEADER = 1_000

type NewToken = {
  system: System
  organizationId: string
  name: string
  createdBy: string
  /** Milliseconds from now; null never expires. */
  lifetimeMs: number | null
  /** A text to take instead of a random one. */
  text?: string | undefined
}

/** A new token: the text, to be shown once, and what is kept of it. */
export function newToken({
  system,
  organizationId,
  name,
  createdBy,
  lifetimeMs,
  text = randomText(),
}: NewToken) {
  const now = system.now()
  const token: Token = {
    id: system.newId(),
    hash: hashOf(text),
    organizationId,
    name,
    createdBy,
    createdAt: new Date(now).toISOString(),
    expiresAt: lifetimeMs === null ? null : new Date(now + lifetimeMs).toISOString(),
    revokedAt: null,
  }
  return { text, token }
}

/** The valid token of an `Authorization` header, or null. Only the hash is looked up, so that timing tells nothing. */
export async function checkToken(tokens: TokenStore, header: string, now: number): Promise<Token | null> {
  const text = header.length <= MAX_HEADER ? BEARER.exec(header.trim())?.[1] : undefined
  const token = text ? await tokens.getByHash({ hash: hashOf(text) }) : null
  if (!token || token.revokedAt || (token.expiresAt && Date.parse(token.expiresAt) <= now)) return null
  return token
}

export function isTokenText(text: string): boolean {
  return BEARER.test(`Bearer ${text}`) && text.length <= 200
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function randomText(): string {
  let value = BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`)
  let text = ''
  for (let i = 0; i < RANDOM_CHARACTERS; i++) {
    text = ALPHABET[Number(value % 62n)] + text
    value /= 62n
  }
  return `aes_${text}`
}
