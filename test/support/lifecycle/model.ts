import { type Execution, isFinal } from '../../../lib/core/execution.ts'
import type { ExecutionStore } from '../../../lib/core/ports.ts'
import type { CallResult, RecordedStep, Step, StepStore } from '../../../lib/core/step.ts'
import * as transitions from '../../../lib/core/transitions.ts'

const METHODS = [
  'get',
  'claim',
  'renew',
  'release',
  'finish',
  'end',
  'delete',
  'listStale',
  'postpone',
  'append',
  'appendResult',
  'read',
] as const
export type Method = (typeof METHODS)[number]

type Stores = ExecutionStore & StepStore
type Signatures = {
  [M in Method]: { params: Parameters<Stores[M]>[0]; answer: Awaited<ReturnType<Stores[M]>> }
}
export type Params<M extends Method> = Signatures[M]['params']
export type Answer<M extends Method> = Signatures[M]['answer']

export type Call<M extends Method> = (params: Params<M>) => Promise<Answer<M>>

/** What workers, clients and the system do to an execution: both stores in one. */
export type Port = { [M in Method]: Call<M> }

/** A port each of whose methods is made by one function. */
export function portOf(methodOf: <M extends Method>(method: M) => Call<M>): Port {
  return Object.fromEntries(METHODS.map((method) => [method, methodOf(method)])) as Port
}

/** One execution and its checkpoints. `execution` is null when it was deleted. */
export type State = {
  execution: Execution | null
  finishedBy: string | null
  steps: { owner: string; step: Step }[]
  results: { number: number; result: CallResult }[]
}

export const begin = (execution: Execution): State => ({
  execution,
  finishedBy: null,
  steps: [],
  results: [],
})

/** What an operation makes of a state, and what its caller is told. */
export function carriedOut<M extends Method>(method: M, state: State, params: Params<M>): [State, Answer<M>] {
  const rule: Rules[M] = RULES[method]
  return rule(state, params)
}

/** The stores as they should be, in memory and with one operation at a time. */
export function modelPort(execution: Execution): Port {
  let state = begin(execution)
  return portOf((method) => async (params) => {
    const [next, answer] = carriedOut(method, state, params)
    state = next
    return answer
  })
}

type Rules = { [M in Method]: (state: State, params: Params<M>) => [State, Answer<M>] }

const RULES: Rules = {
  get(state, { organizationId }) {
    return [state, state.execution?.organizationId === organizationId ? state.execution : null]
  },
  claim(state, { lease, now }) {
    const next = changed(state, transitions.claim(lease, now))
    if (next) return [next, { ...next.execution, lease }]
    if (!state.execution || isFinal(state.execution)) return [state, 'closed']
    return [state, state.execution.lease?.owner === lease.owner ? { ...state.execution, lease } : 'held']
  },
  renew(state, { lease, progress }) {
    return told(state, changed(state, transitions.renew(lease, progress)))
  },
  release(state, { owner, ...given }) {
    return told(state, changed(state, transitions.release(owner, given)))
  },
  finish(state, { execution, outcome, finishedAt }) {
    const { owner } = execution.lease
    const transition = transitions.finish(owner, outcome, finishedAt)
    const next = changed(state, transition)
    if (!next && state.finishedBy !== owner) return [state, null]
    return [{ ...(next ?? state), finishedBy: owner }, transitions.applyTransition(execution, transition)]
  },
  end(state, { organizationId, error, finishedAt, unleasedAt }) {
    const guard = { organizationId, ...(unleasedAt !== undefined && { unleasedAt }) }
    const next = changed(state, transitions.end(guard, error, finishedAt))
    return [next ?? state, next?.execution ?? null]
  },
  delete(state, { organizationId }) {
    if (state.execution?.organizationId !== organizationId) return [state, 'missing']
    if (!isFinal(state.execution)) return [state, 'open']
    return [{ execution: null, finishedBy: null, steps: [], results: [] }, 'deleted']
  },
  listStale(state, { now }) {
    if (!state.execution) return [state, []]
    const { id, organizationId, tenantId, createdAt, deadlineAt, openUntil } = state.execution
    if (openUntil === null || openUntil >= now) return [state, []]
    return [state, [{ id, organizationId, tenantId, createdAt, deadlineAt, openUntil }]]
  },
  postpone(state, { stale, until }) {
    return told(state, changed(state, transitions.postpone(stale.openUntil, until)))
  },
  append(state, { owner, step }) {
    const kept = state.steps.find((other) => other.step.number === step.number)
    if (kept) return [state, kept.owner === owner]
    return [{ ...state, steps: [...state.steps, { owner, step }] }, true]
  },
  appendResult(state, { number, result }) {
    const isSame = (other: State['results'][number]) =>
      other.number === number && other.result.callId === result.callId
    const kept = state.results.find(isSame)
    if (kept) return [state, kept.result]
    return [{ ...state, results: [...state.results, { number, result }] }, result]
  },
  read(state) {
    return [state, readOf(state)]
  },
}

/** The checkpoints as the step store gives them back. */
export function readOf({ steps, results }: State): RecordedStep[] {
  const inOrder = [...steps].sort((a, b) => a.step.number - b.step.number)
  const resultsOf = (wanted: number) => results.filter(({ number }) => number === wanted)
  return inOrder.map(({ step }) => ({
    step,
    results: new Map(resultsOf(step.number).map(({ result }) => [result.callId, result])),
  }))
}

function changed(state: State, transition: transitions.Transition) {
  const { execution } = state
  if (!execution || !transitions.isPermitted(execution, transition.guard)) return null
  return { ...state, execution: transitions.applyTransition(execution, transition) }
}

const told = (before: State, after: State | null): [State, boolean] => [after ?? before, after !== null]
