import { MAX_JWT_CHARACTERS } from '../../lib/core/access.ts'
import { DAY_MS } from '../../lib/core/limits.ts'

/** How long this device keeps a token if its user asks for it. */
export const KEPT_DAYS = 7
const KEPT_MS = KEPT_DAYS * DAY_MS

/** Whether it can be sent in a header. What is stored, and what other tabs send, may be anything. */
export const isToken = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_JWT_CHARACTERS && /^[!-~]+$/.test(value)

/** Whether a token is of an identity provider (a JWT). It is not ours to keep: such a token is in memory only. */
export const isJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)

export type TokenStorage = {
  /** The token of this tab, which reloads keep. */
  load(): string | null
  save(token: string | null): void
  /** The token that this device keeps. What has expired or is malformed is removed. */
  loadKept(): string | null
  keep(token: string): void
  /** @param token only if it is this one */
  forget(token?: string): void
  /**
   * Marks a token as signed out, or in use again: tabs that the browser has put to sleep, or that show another page,
   * hear of nothing, and still have it.
   */
  mark(token: string, isSignedOut: boolean): void
}

type Places = {
  /** Those of the browser throw if it blocks storage: then a token is in memory only. */
  tab: () => Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  device: () => Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>
  /** Milliseconds since the epoch. */
  now: () => number
}

/** How many signed-out tokens are remembered, by 32 bits of a hash that say nothing about them. */
const MAX_MARKS = 20

export function openTokenStorage(key: string, { tab, device, now }: Places): TokenStorage {
  function loadKept(): string | null {
    const text = attempt(() => device().getItem(key)) ?? null
    const token = text === null ? null : readKept(text, now())
    if (text !== null && token === null) attempt(() => device().removeItem(key))
    return token
  }
  const markKey = `${key} signed-out`
  const loadMarks = (): string[] => {
    const marks = attempt(() => JSON.parse(device().getItem(markKey) ?? '[]'))
    return Array.isArray(marks) ? marks.filter((mark) => typeof mark === 'string') : []
  }
  return {
    load() {
      const token = attempt(() => tab().getItem(key))
      return isToken(token) && !loadMarks().includes(hashOf(token)) ? token : null
    },
    save(token) {
      if (token === null || isJwt(token)) attempt(() => tab().removeItem(key))
      else attempt(() => tab().setItem(key, token))
    },
    loadKept,
    keep(token) {
      if (isJwt(token)) return
      const text = JSON.stringify({ token, expiresAt: now() + KEPT_MS })
      attempt(() => device().setItem(key, text))
    },
    forget(token) {
      if (token === undefined || loadKept() === token) attempt(() => device().removeItem(key))
    },
    mark(token, isSignedOut) {
      const others = loadMarks().filter((mark) => mark !== hashOf(token))
      const marks = [...others, ...(isSignedOut ? [hashOf(token)] : [])].slice(-MAX_MARKS)
      if (marks.length === 0) attempt(() => device().removeItem(markKey))
      else attempt(() => device().setItem(markKey, JSON.stringify(marks)))
    },
  }
}

/** Null for what this version does not write, and for an entry that has expired. */
function readKept(text: string, now: number): string | null {
  const { token, expiresAt } = attempt(() => JSON.parse(text)) ?? {}
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

function attempt<T>(action: () => T): T | undefined {
  try {
    return action()
  } catch {
    return undefined
  }
}
