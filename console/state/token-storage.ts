import { MAX_JWT_CHARACTERS } from '../../lib/core/access.ts'
import { isJsonObject, tryParseJson } from '../../lib/core/json/json.ts'
import { DAY_MS } from '../../lib/core/limits.ts'
import { readText, type TextStorage, writeText } from './browser-storage.ts'

/** How long this device keeps a token if its user asks for it. */
export const KEPT_DAYS = 7
const KEPT_MS = KEPT_DAYS * DAY_MS

/** Whether it can be sent in a header. What is stored, and what other tabs send, may be anything. */
export const isToken = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_JWT_CHARACTERS && /^[!-~]+$/.test(value)

/** Whether a token is of an identity provider (a JWT). It is not ours to keep: such a token is in memory only. */
export const isJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)

export type TokenStorage = ReturnType<typeof openTokenStorage>

/** Without storage, a token is in memory only. `now`: milliseconds since the epoch. */
type Places = { tab: TextStorage | null; device: TextStorage | null; now: () => number }

/** How many signed-out tokens are remembered, by 32 bits of a hash that say nothing about them. */
const MAX_MARKS = 20

export function openTokenStorage(key: string, { tab, device, now }: Places) {
  const markKey = `${key} signed-out`
  function loadMarks(): string[] {
    const marks = tryParseJson(readText(device, markKey) ?? '')
    return Array.isArray(marks) ? marks.filter((mark) => typeof mark === 'string') : []
  }
  /** The token that this device keeps. What has expired or is malformed is removed. */
  function loadKept(): string | null {
    const token = readKept(readText(device, key) ?? '', now())
    if (token === null) writeText(device, key, null)
    return token
  }
  return {
    /** The token of this tab, which reloads keep. */
    load(): string | null {
      const token = readText(tab, key)
      return isToken(token) && !loadMarks().includes(hashOf(token)) ? token : null
    },
    save(token: string | null): void {
      writeText(tab, key, token === null || isJwt(token) ? null : token)
    },
    loadKept,
    keep(token: string): void {
      if (!isJwt(token)) writeText(device, key, JSON.stringify({ token, expiresAt: now() + KEPT_MS }))
    },
    /** @param token only if it is this one */
    forget(token?: string): void {
      if (token === undefined || loadKept() === token) writeText(device, key, null)
    },
    /** Marks a token as signed out, or in use again: tabs that sleep, or show another page, still have it. */
    mark(token: string, isSignedOut: boolean): void {
      const others = loadMarks().filter((mark) => mark !== hashOf(token))
      const marks = [...others, ...(isSignedOut ? [hashOf(token)] : [])].slice(-MAX_MARKS)
      writeText(device, markKey, marks.length === 0 ? null : JSON.stringify(marks))
    },
  }
}

/** Null for what this version does not write, and for an entry that has expired. */
function readKept(text: string, now: number): string | null {
  const value = tryParseJson(text)
  if (!isJsonObject(value)) return null
  const { token, expiresAt } = value
  const isValid = typeof expiresAt === 'number' && expiresAt > now && expiresAt <= now + KEPT_MS
  return isValid && isToken(token) && !isJwt(token) ? token : null
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0
  return hash.toString(16)
}
