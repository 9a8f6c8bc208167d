import { isDeepStrictEqual } from 'node:util'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import type { Lease } from '../../../lib/core/lease-times.ts'
import {
  applyOperation,
  createPort,
  type Method,
  type Operation,
  type Params,
  type Port,
  type Result,
  type State,
} from './reference-model.ts'

/** A call of a store: its position among all calls and what it returned. */
type EventOf<M extends Method> = { method: M; params: Params<M>; result: Result<M> }
export type Event = { [M in Method]: EventOf<M> }[Method] & {
  startedAt: number
  endedAt: number
  /** The state after the call in the reference model, and whether the model returns the same result. */
  replay: (state: State) => { next: State; isSame: boolean }
}

/** A port that records every call. */
export function recordHistory(port: Port): { port: Port; history: Event[] } {
  const history: Event[] = []
  let time = 0
  const toOperation =
    <M extends Method>(method: M): Operation<M> =>
    async (params) => {
      const startedAt = ++time
      const operation: Operation<M> = port[method]
      const result = await operation(params)
      const replay = (state: State) => {
        const [next, expected] = applyOperation(method, state, params)
        return { next, isSame: isUnspecified(method, state) || isDeepStrictEqual(result, expected) }
      }
      history.push({ method, params, result, startedAt, endedAt: ++time, replay } as Event)
      return result
    }
  return { port: createPort(toOperation), history }
}

/** A deletion takes several writes. Until the last, results about the deleted items are unspecified. */
function isUnspecified(method: Method, state: State): boolean {
  return (
    state.execution === null &&
    ['delete', 'append', 'appendResult', 'close', 'getProgress', 'read'].includes(method)
  )
}

type Linearization = { order: Event[]; state: State }

/**
 * A sequential order of the calls in which each returns what it returned and the last state is accepted; null if there
 * is none. A call that ended before another started stays before it (linearizability: Herlihy and Wing, 1990).
 */
export function findLinearization(
  events: Event[],
  state: State,
  isAccepted: (state: State) => boolean,
): Linearization | null {
  const visited = new Set<string>()
  const search = (remaining: Event[], from: State): Linearization | null => {
    if (remaining.length === 0) return isAccepted(from) ? { order: [], state: from } : null
    const key = JSON.stringify([remaining.map(({ startedAt }) => startedAt), from])
    if (visited.has(key)) return null
    visited.add(key)
    const firstEnd = Math.min(...remaining.map(({ endedAt }) => endedAt))
    for (const event of remaining.filter(({ startedAt }) => startedAt < firstEnd)) {
      const { next, isSame } = event.replay(from)
      if (!isSame) continue
      const others = remaining.filter((other) => other !== event)
      const rest = search(others, next)
      if (rest) return { order: [event, ...rest.order], state: rest.state }
    }
    return null
  }
  return search(events, state)
}

/** Calls that succeeded although only the lease's owner may make them, or only one may. Independent of the model. */
export function findLeaseViolations(order: Event[], firstLease: Lease | null): Event[] {
  let holder = firstLease
  let isFinal = false
  let finishedBy: string | null = null
  return order.filter(({ method, params, result }) => {
    const isOwner = (owner: string) => !isFinal && holder?.owner === owner
    if (method === 'claim' && typeof result !== 'string') {
      const isFree = !isFinal && (holder === null || holder.expiresAt < params.now)
      holder = params.lease
      return !isFree
    }
    if (method === 'renew' && result) {
      const isAllowed = isOwner(params.lease.owner)
      holder = params.lease
      return !isAllowed
    }
    if (method === 'release' && result) {
      const isAllowed = isOwner(params.owner)
      holder = null
      return !isAllowed
    }
    if (method === 'finish' && result) {
      const { owner } = params.execution.lease
      const isAllowed = isOwner(owner) || finishedBy === owner
      isFinal = true
      finishedBy = owner
      return !isAllowed
    }
    if (method === 'end' && result) {
      const isLeased = holder !== null && holder.expiresAt >= Date.parse(params.finishedAt)
      const isForbidden = isFinal || (isLeased && params.error.code !== CANCELLED.code)
      isFinal = true
      return isForbidden
    }
    return false
  })
}
