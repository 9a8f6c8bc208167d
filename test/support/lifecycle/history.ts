import { isDeepStrictEqual } from 'node:util'
import { CANCELLED, type Lease } from '../../../lib/core/execution.ts'
import {
  type Answer,
  type Call,
  carriedOut,
  type Method,
  type Params,
  type Port,
  portOf,
  type State,
} from './model.ts'

/** An operation on a store, when it began and ended among all others, and what its caller was told. */
type EventOf<M extends Method> = { method: M; params: Params<M>; answer: Answer<M> }
export type Event = { [M in Method]: EventOf<M> }[Method] & {
  began: number
  ended: number
  /** What the model makes of it, and whether it would have told its caller the same. */
  replay: (state: State) => { next: State; isSame: boolean }
}

/** A port that keeps a history of what is done through it. */
export function recorded(port: Port): { port: Port; history: Event[] } {
  const history: Event[] = []
  let time = 0
  const methodOf =
    <M extends Method>(method: M): Call<M> =>
    async (params) => {
      const began = ++time
      const call: Call<M> = port[method]
      const answer = await call(params)
      const replay = (state: State) => {
        const [next, expected] = carriedOut(method, state, params)
        return { next, isSame: isIdle(method, state) || isDeepStrictEqual(answer, expected) }
      }
      history.push({ method, params, answer, began, ended: ++time, replay } as Event)
      return answer
    }
  return { port: portOf(methodOf), history }
}

/** A deletion takes several writes: while they last, it is of no consequence what is said of what they remove. */
function isIdle(method: Method, state: State): boolean {
  return state.execution === null && ['delete', 'append', 'appendResult', 'read'].includes(method)
}

/**
 * An order in which the operations, one at a time, have the answers that they had and lead to such a state; null when
 * there is none. One that had ended before another began stays before it (linearizability: Herlihy and Wing, 1990).
 */
export function orderOf(
  events: Event[],
  state: State,
  isEnd: (state: State) => boolean,
): { order: Event[]; state: State } | null {
  const inVain = new Set<string>()
  const search = (left: Event[], from: State): { order: Event[]; state: State } | null => {
    if (left.length === 0) return isEnd(from) ? { order: [], state: from } : null
    const place = JSON.stringify([left.map(({ began }) => began), from])
    if (inVain.has(place)) return null
    inVain.add(place)
    const firstEnd = Math.min(...left.map(({ ended }) => ended))
    for (const event of left.filter(({ began }) => began < firstEnd)) {
      const { next, isSame } = event.replay(from)
      const rest = isSame
        ? search(
            left.filter((other) => other !== event),
            next,
          )
        : null
      if (rest) return { order: [event, ...rest.order], state: rest.state }
    }
    return null
  }
  return search(events, state)
}

/** Where a worker was let do what only the holder of the lease may, or what only one may do once. No model is asked. */
export function trespasses(order: Event[], first: Lease | null): Event[] {
  let holder = first
  let hasEnded = false
  let endedBy: string | null = null
  return order.filter(({ method, params, answer }) => {
    const isOwner = (owner: string) => !hasEnded && holder?.owner === owner
    if (method === 'claim' && typeof answer !== 'string') {
      const isFree = !hasEnded && (holder === null || holder.expiresAt < params.now)
      holder = params.lease
      return !isFree
    }
    if (method === 'renew' && answer) {
      const isOurs = isOwner(params.lease.owner)
      holder = params.lease
      return !isOurs
    }
    if (method === 'release' && answer) {
      const isOurs = isOwner(params.owner)
      holder = null
      return !isOurs
    }
    if (method === 'finish' && answer) {
      const { owner } = params.execution.lease
      const isOurs = isOwner(owner) || endedBy === owner
      hasEnded = true
      endedBy = owner
      return !isOurs
    }
    if (method === 'end' && answer) {
      const isLive = holder !== null && holder.expiresAt >= Date.parse(params.finishedAt)
      const isTooMuch = hasEnded || (isLive && params.error.code !== CANCELLED.code)
      hasEnded = true
      return isTooMuch
    }
    return false
  })
}
