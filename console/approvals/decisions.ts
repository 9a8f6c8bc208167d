import type { ApprovalRecord, DecisionRecord } from '../../lib/contract/records/approval.ts'
import { ApiError, asApiError } from '../api/api-error.ts'
import { post } from '../api/request.ts'
import { pathOfRun } from '../api/runs.ts'
import { credentials } from '../state/session.ts'
import { createStore, type Store } from '../state/store.ts'

/** A decision of this page. It can be taken back while it `waits`; the service takes none back. */
export type Decided = {
  key: string
  title: string
  decision: 'approve' | 'reject'
  /** `late`: somebody else has decided, or its time is over. */
  state: 'waits' | 'sending' | 'sent' | 'late' | 'failed'
  error: ApiError | null
}

/** Resolves to whether the decision counts. Throws ApiError. @param isLast the page is being left */
type Send = (isLast: boolean) => Promise<boolean>

export const UNDO_MS = 5_000
const SHOWN = 3

/** Keeps decisions for a moment, in which they can be taken back, then sends each of them once. */
export function createDecisions(delayMs = UNDO_MS) {
  const all: Store<Decided[]> = createStore<Decided[]>([])
  const waiting = new Map<string, { send: Send; timer: ReturnType<typeof setTimeout> }>()

  function change(key: string, part: Partial<Decided>) {
    all.set(all.get().map((each) => (each.key === key ? { ...each, ...part } : each)))
  }

  async function send(key: string, isLast: boolean) {
    const entry = waiting.get(key)
    if (!entry) return
    clearTimeout(entry.timer)
    waiting.delete(key)
    change(key, { state: 'sending' })
    try {
      change(key, { state: (await entry.send(isLast)) ? 'sent' : 'late' })
    } catch (error) {
      change(key, { state: 'failed', error: asApiError(error) })
    }
  }

  return {
    all,
    /** @returns false if there is a decision on it already, which stays */
    decide({ key, title, decision }: Pick<Decided, 'key' | 'title' | 'decision'>, sender: Send) {
      const last = all.get().find((each) => each.key === key)
      if (last && last.state !== 'failed') return false
      const others = all.get().filter((each) => each.key !== key)
      // Decisions stay in the list until they are sent.
      const kept = others.filter(
        ({ state }, index) => index < SHOWN - 1 || state === 'waits' || state === 'sending',
      )
      all.set([{ key, title, decision, state: 'waits', error: null }, ...kept])
      waiting.set(key, { send: sender, timer: setTimeout(() => void send(key, false), delayMs) })
      return true
    },
    /** @returns false if it is too late */
    undo(key: string): boolean {
      clearTimeout(waiting.get(key)?.timer)
      if (!waiting.delete(key)) return false
      all.set(all.get().filter((each) => each.key !== key))
      return true
    },
    flush: (isLast = false) => Promise.all([...waiting.keys()].map((key) => send(key, isLast))),
    clear(): void {
      all.set(all.get().filter(({ state }) => state === 'waits' || state === 'sending'))
    },
  }
}

export const decisions = createDecisions()

/** Keys of approvals that this page has decided, whether the service knows or not. */
export const decidedKeys = (all: Decided[]): Set<string> =>
  new Set(all.flatMap(({ key, state }) => (state === 'failed' ? [] : [key])))

/** What browsers send of a page that is left (Fetch Standard, keepalive: 64 KiB in total). */
const MAX_LAST_BYTES = 60_000

const TOO_LATE = ['ApprovalDecided', 'ExecutionEnded', 'ExecutionNotFound', 'ApprovalNotFound']

/** Sends a decision with the token that made it. @param body JSON, as it was typed */
export function toSend({ executionId, id }: Pick<ApprovalRecord, 'executionId' | 'id'>, body: string): Send {
  const { token } = credentials.get()
  const path = `${pathOfRun(executionId)}/approvals/${encodeURIComponent(id)}`
  return async (isLast) => {
    const keepalive = isLast && new Blob([body]).size < MAX_LAST_BYTES
    try {
      await post<DecisionRecord>(path, { body, keepalive, ...(token && { token }) })
      return true
    } catch (error) {
      if (error instanceof ApiError && TOO_LATE.includes(error.code)) return false
      throw error
    }
  }
}
