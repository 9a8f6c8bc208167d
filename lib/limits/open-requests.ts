import { TooManyOpenRequests } from '../core/limit-errors.ts'
import { EVENT_STREAM_MS, ORGANIZATION_SHARE, SMALL_QUOTA } from '../core/limits.ts'
import type { HeldRequest, OpenRequests, RateStore } from '../core/ports/access.ts'
import {
  type Environment,
  ORGANIZATION_CONCURRENCY,
  readInteger,
  SHARED_CONCURRENCY,
} from '../environment.ts'
import { readKnownQuota } from './known-quota.ts'
import { FREE_MS, occupiedProcesses } from './occupied-processes.ts'

/**
 * Counts open requests in this process; on Lambda, where a process has one request at a time, the processes that they
 * occupy, if the stack limits them or the account has a small quota.
 * @param functionName whose processes are counted, unless all functions share the quota of the account
 */
export function limitOpenRequests(
  functionName: string,
  rates: RateStore,
  environment: Environment = process.env,
): OpenRequests {
  const shared = environment[SHARED_CONCURRENCY]
  if (shared === 'unknown') return limitIfSmall(rates)
  if (!environment[ORGANIZATION_CONCURRENCY]) return requestsOfProcess
  const max = readInteger(ORGANIZATION_CONCURRENCY, 1, environment)
  return shared ? shareQuota(rates, max) : occupiedProcesses({ rates, functionName, max })
}

/** Processes of all functions are counted together, and streams end after a minute: others get their turn. */
function shareQuota(rates: RateStore, max: number): OpenRequests {
  const processes = occupiedProcesses({ rates, functionName: 'all', max })
  return {
    async hold(kind, owner) {
      const held = await processes.hold(kind, owner)
      if (kind !== 'stream') return held
      const turn = new AbortController()
      const timer = setTimeout(() => turn.abort(), EVENT_STREAM_MS.shared).unref()
      const release = () => {
        clearTimeout(timer)
        held.release()
      }
      return { full: AbortSignal.any([held.full, turn.signal]), release }
    },
  }
}

/**
 * Shares the quota that the sweeper has stored if it is small. It is read for a request that has been open for a while,
 * so that short ones do not wait for it, and what they could not occupy is not limited. While it is unknown, and if it
 * cannot be read, what is known of it stays.
 */
function limitIfSmall(rates: RateStore): OpenRequests {
  let share: { max: number; requests: OpenRequests } | null = null
  const readQuota = readKnownQuota(rates)

  async function readShare(): Promise<typeof share> {
    const quota = await readQuota()
    const max =
      quota !== null && quota < SMALL_QUOTA ? Math.max(1, Math.floor(quota * ORGANIZATION_SHARE)) : null
    if (max !== (share?.max ?? null)) share = max === null ? null : { max, requests: shareQuota(rates, max) }
    return share
  }

  return {
    async hold(kind, owner) {
      const isShared = share !== null
      const held = await (share?.requests ?? requestsOfProcess).hold(kind, owner)
      const full = new AbortController()
      let isOpen = true
      let counted: HeldRequest | null = null
      const timer = setTimeout(async () => {
        const found = await readShare()
        if (!found || isShared || !isOpen) return
        counted = await found.requests.hold(kind, owner).catch(() => null)
        if (!counted) full.abort()
        else if (!isOpen) counted.release()
        else counted.full.addEventListener('abort', () => full.abort(), { once: true })
      }, FREE_MS).unref()
      const release = () => {
        isOpen = false
        clearTimeout(timer)
        counted?.release()
        held.release()
      }
      return { full: isShared ? held.full : full.signal, release }
    },
  }
}

/** So many that no program needs more, so few that one client cannot use up the memory and sockets of a process. */
const LIMITS = {
  stream: { token: 20, organization: 200, name: 'event streams' },
  wait: { token: 128, organization: 512, name: 'requests that wait for an execution' },
} as const

/** One signal for all runs: each ends with its run what it is combined with (`anyOf`). */
const UNLIMITED = { full: new AbortController().signal, release: () => undefined }

/** How many are open, by kind and owner. */
const open = new Map<string, number>()

/** The open requests of this process. Synchronous runs count as open executions only. */
const requestsOfProcess: OpenRequests = {
  async hold(kind, { tokenId, organizationId }) {
    if (kind === 'run') return UNLIMITED
    // Not one for all: Node retains what a signal is combined with.
    const full = new AbortController().signal
    const { token, organization, name } = LIMITS[kind]
    const counters = [
      { key: `${kind} ${organizationId} ${tokenId}`, max: token, owner: 'This token' },
      { key: `${kind} ${organizationId}`, max: organization, owner: 'Your organization' },
    ]
    const reached = counters.find(({ key, max }) => countOf(key) >= max)
    if (reached) {
      const { owner, max } = reached
      throw new TooManyOpenRequests(`${owner} has ${max} ${name} at the same time, the maximum.`)
    }
    const add = (change: 1 | -1) => {
      for (const { key } of counters) {
        const count = countOf(key) + change
        if (count === 0) open.delete(key)
        else open.set(key, count)
      }
    }
    add(1)
    let isOpen = true
    const release = () => {
      if (isOpen) add(-1)
      isOpen = false
    }
    return { full, release }
  },
}

const countOf = (key: string): number => open.get(key) ?? 0
