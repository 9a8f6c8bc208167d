import { CANCELLED, type Execution, failure, isFinal, NO_USAGE } from '../../lib/core/execution.ts'
import * as transitions from '../../lib/core/transitions.ts'
import { anExecution } from './executions.ts'

const WORKERS = ['a', 'b', 'c']
/** The present of every state: time passes by all that a state has ahead of it coming one unit nearer. */
export const NOW = 1_000
const LEASE = 4
const GRACE = 6
const DEADLINE = 14
const AT = '2027-01-15T08:00:00.000Z'

/** `to` is null when the execution is deleted by it. */
export type Move = { name: string; owner?: string; to: Execution | null }
type Node = { execution: Execution; moves: Move[] }

/** Every state that any interleaving can lead to, by its key, each with all that may happen to it next. */
export function explore(): Map<string, Node> {
  const nodes = new Map<string, Node>()
  const given = { now: NOW, deadlineMs: DEADLINE, graceMs: GRACE }
  const frontier = [anExecution(given), anExecution({ ...given, lease: leaseOf('a') })]
  for (let execution = frontier.shift(); execution; execution = frontier.shift()) {
    if (nodes.has(keyOf(execution))) continue
    const moves = movesFrom(execution)
    nodes.set(keyOf(execution), { execution, moves })
    for (const { to } of moves) if (to) frontier.push(to)
  }
  return nodes
}

/** Keys of the states from which these moves alone can lead to a final one. */
export function endableBy(nodes: Map<string, Node>, names: string[]): Set<string> {
  const open = [...nodes].filter(([, { execution }]) => !isFinal(execution))
  const endable = new Set([...nodes.keys()].filter((key) => !open.some(([other]) => other === key)))
  for (let before = -1; before !== endable.size; ) {
    before = endable.size
    for (const [key, { moves }] of open) {
      if (moves.some(({ name, to }) => names.includes(name) && to && endable.has(keyOf(to)))) endable.add(key)
    }
  }
  return endable
}

/** What tells states apart; counters and timestamps decide nothing. */
export function keyOf({ status, output, error, lastError, lease, openUntil, deadlineAt }: Execution): string {
  return JSON.stringify([status, output, error?.code, lastError?.code, lease, openUntil, deadlineAt])
}

const leaseOf = (owner: string) => ({ owner, expiresAt: NOW + LEASE })

function movesFrom(execution: Execution): Move[] {
  const { openUntil, deadlineAt } = execution
  const carriedOut = (name: string, transition: transitions.Transition, owner?: string): Move[] =>
    transitions.isPermitted(execution, transition.guard)
      ? [{ name, to: transitions.applyTransition(execution, transition), ...(owner && { owner }) }]
      : []
  const endedUnleased = (name: string, code: string) =>
    carriedOut(name, transitions.end({ unleasedAt: NOW }, { code, message: code }, AT))
  const swept = (seen: number) =>
    deadlineAt <= NOW
      ? endedUnleased('sweep', 'DeadlineExceeded')
      : carriedOut('sweep', transitions.postpone(seen, NOW + GRACE))
  return [
    { name: 'tick', to: later(execution) },
    ...WORKERS.flatMap((owner) => [
      ...carriedOut('claim', transitions.claim(leaseOf(owner), NOW), owner),
      ...carriedOut('renew', transitions.renew(leaseOf(owner)), owner),
      ...carriedOut('renew', transitions.renew(leaseOf(owner), PROGRESS), owner),
      ...carriedOut('finish', transitions.finish(owner, succeeded(owner), AT), owner),
      ...carriedOut('finish', transitions.finish(owner, failure({ code: owner, message: '' }), AT), owner),
      ...carriedOut('release', transitions.release(owner, { until: NOW + GRACE, error: null }), owner),
      ...carriedOut(
        'release',
        transitions.release(owner, { until: NOW + GRACE, error: { code: 'Busy', message: '' } }),
        owner,
      ),
    ]),
    ...carriedOut('cancel', transitions.end({}, CANCELLED, AT)),
    ...(openUntil !== null && openUntil < NOW ? swept(openUntil) : []),
    // Attempts are not part of a state here: as a dead letter counts one that has used them up.
    ...endedUnleased('bury', transitions.attemptsExhausted(execution).code),
    ...(isFinal(execution) ? [{ name: 'delete', to: null }] : []),
  ]
}

const PROGRESS = { steps: 1, usage: NO_USAGE, model: null }
const succeeded = (by: string) => ({ status: 'SUCCESS' as const, output: { by }, ...PROGRESS })

/** One unit of time later. What has passed is past, however long ago: else there were no end of states. */
function later(execution: Execution): Execution {
  const nearer = (time: number) => Math.max(time - 1, NOW - 1)
  const { lease, openUntil, deadlineAt } = execution
  return {
    ...execution,
    lease: lease && { ...lease, expiresAt: nearer(lease.expiresAt) },
    openUntil: openUntil === null ? null : nearer(openUntil),
    deadlineAt: nearer(deadlineAt),
  }
}
