import type { Store } from './store.ts'
import { isToken } from './token-storage.ts'

/** What the tabs of one console tell each other. Nothing of it is stored. */
type Message =
  | { kind: 'ask'; id: string }
  /** `usedAt`: when the user was last in the tab that answers, in milliseconds since the epoch. */
  | { kind: 'answer'; id: string; token: string; usedAt: number }
  | { kind: 'ended'; token: string; isRejected: boolean }

/** A `BroadcastChannel`, which all tabs of an origin share. */
export type TabChannel = {
  postMessage(message: unknown): void
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void
}

type Tab = {
  /** The token in use, and when the user was last in this tab. */
  current: () => { token: string | null; usedAt: number }
  /** A token was signed out, or rejected, in another tab. */
  onEnded: (token: string, isRejected: boolean) => void
}

export type TabLink = {
  /** Asks the other tabs for their token. `take` is called at most once, however many of them answer. */
  ask(take: (token: string) => void): void
  /** Ignores the answers that are still to come. */
  cancel(): void
  /** Signs out the other tabs that use the token. */
  end(token: string, isRejected: boolean): void
}

/** After the first answer: tabs with different tokens may answer. That of the tab that was used last counts. */
const SETTLE_MS = 30

export function linkTabs(channel: TabChannel, { current, onEnded }: Tab): TabLink {
  let asked: { id: string; best: { token: string; usedAt: number } | null } | null = null
  let take: (token: string) => void = () => undefined

  function settle(id: string): void {
    if (asked?.id !== id || !asked.best) return
    const { token } = asked.best
    asked = null
    take(token)
  }

  channel.addEventListener('message', ({ data }) => {
    const message = readMessage(data)
    if (message?.kind === 'ask') {
      const { token, usedAt } = current()
      if (token !== null) channel.postMessage({ kind: 'answer', id: message.id, token, usedAt })
    }
    if (message?.kind === 'answer' && asked?.id === message.id) {
      if (!asked.best) setTimeout(() => settle(message.id), SETTLE_MS)
      if (!asked.best || asked.best.usedAt < message.usedAt) asked.best = message
    }
    if (message?.kind === 'ended') {
      if (asked?.best?.token === message.token) asked.best = null
      onEnded(message.token, message.isRejected)
    }
  })

  return {
    ask(next) {
      take = next
      asked = { id: String(Math.random()), best: null }
      channel.postMessage({ kind: 'ask', id: asked.id })
    },
    cancel() {
      asked = null
    },
    end(token, isRejected) {
      channel.postMessage({ kind: 'ended', token, isRejected })
    },
  }
}

/** Null for what this version does not send: a tab may still show another one. */
export function readMessage(data: unknown): Message | null {
  if (typeof data !== 'object' || data === null) return null
  const { kind, id, token, usedAt, isRejected } = data as Record<string, unknown>
  if (kind === 'ask' && typeof id === 'string') return { kind, id }
  if (kind === 'answer' && typeof id === 'string' && isToken(token) && typeof usedAt === 'number')
    return { kind, id, token, usedAt }
  if (kind === 'ended' && isToken(token)) return { kind, token, isRejected: isRejected === true }
  return null
}

/** A tab answers within a few milliseconds, if the device is not busy. */
export const ANSWER_MS = 200

/** Whether another tab is signed in: each holds a lock. Null if the browser cannot say, such as without HTTPS. */
export async function findOthers(key: string): Promise<boolean | null> {
  try {
    const silence = new Promise<null>((resolve) => setTimeout(resolve, ANSWER_MS, null))
    const locks = await Promise.race([navigator.locks.query(), silence])
    return locks?.held?.some(({ name }) => name === key) ?? null
  } catch {
    return null
  }
}

/** Holds the lock while this tab is signed in. */
export function holdLock(key: string, credentials: Store<{ token: string | null }>): void {
  let release: (() => void) | null = null
  const update = () => {
    const isSignedIn = credentials.get().token !== null
    if (isSignedIn && !release) {
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      navigator.locks?.request(key, { mode: 'shared' }, () => held).catch(() => undefined)
    }
    if (!isSignedIn) {
      release?.()
      release = null
    }
  }
  credentials.subscribe(update)
  update()
}
