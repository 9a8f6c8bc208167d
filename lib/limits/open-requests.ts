import { TooManyOpenRequests } from '../core/limit-errors.ts'
import type { OpenRequests, RateStore } from '../core/ports/access.ts'
import { type Environment, ORGANIZATION_CONCURRENCY, readInteger, SHARED_CONCURRENCY } from '../environment.ts'
import { occupiedProcesses } from './occupied-processes.ts'

/**
 * Counts open requests in this process; on Lambda, where a process has one request at a time, the processes that they
 * occupy, if the stack limits them.
 * @param functionName whose processes are counted, unless all functions share the quota of the account
 */
export function limitOpenRequests(
  functionName: string,
  rates: RateStore,
  environment: Environment = process.env,
): OpenRequests {
  if (!environment[ORGANIZATION_CONCURRENCY]) return requestsOfProcess
  const max = readInteger(ORGANIZATION_CONCURRENCY, 1, environment)
  return occupiedProcesses({ rates, functionName: environment[SHARED_CONCURRENCY] ? 'all' : functionName, max })
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
