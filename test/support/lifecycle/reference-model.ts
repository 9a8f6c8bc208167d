import { type Execution, isFinal, type Progress } from '../../../lib/core/execution.ts'
import type { ExecutionStore } from '../../../lib/core/ports/executions.ts'
import type { CallResult, RecordedStep, Step, StepStore } from '../../../lib/core/step.ts'
import * as transitions from '../../../lib/core/transitions.ts'

const METHODS = [
  'get',
  'getStatus',
  'getSummary',
  'claim',
  'renew',
  'release',
  'finish',
  'end',
  'settle',
  'listOpenChildren',
  'delete',
  'listStale',
  'postpone',
  'append',
  'close',
  'getProgress',
  'appendResult',
  'read',
] as const
export type Method = (typeof METHODS)[number]

type Stores = ExecutionStore & StepStore
type Signatures = {
  [M in Method]: { params: Parameters<Stores[M]>[0]; result: Awaited<ReturnType<Stores[M]>> }
}
export type Params<M extends Method> = Signatures[M]['params']
export type Result<M extends Method> = Signatures[M]['result']

export type Operation<M extends Method> = (params: Params<M>) => Promise<Result<M>>

/** The methods of both stores that change or read a running execution. */
export type Port = { [M in Method]: Operation<M> }

export function createPort(toOperation: <M extends Method>(method: M) => Operation<M>): Port {
  return Object.fromEntries(METHODS.map((method) => [method, toOperation(method)])) as Port
}

/** One execution and its checkpoints. `execution` is null after its deletion. */
export type State = {
  execution: Execution | null
  finishedBy: string | null
  steps: { owner: string; step: Step; progress: Progress }[]
  isClosed: boolean
  results: { number: number; result: CallResult }[]
}

export const initialState = (execution: Execution): State => ({
  execution,
  finishedBy: null,
  steps: [],
  isClosed: false,
  results: [],
})

/** The state after an operation, and the operation's result. */
export function applyOperation<M extends Method>(
  method: M,
  state: State,
  params: Params<M>,
): [State, Result<M>] {
  const operation: Operations[M] = OPERATIONS[method]
  return operation(state, params)
}

/** The reference model of both stores: in memory, one operation at a time. */
export function modelPort(execution: Execution): Port {
  let state = initialState(execution)
  return createPort((method) => async (params) => {
    const [next, result] = applyOperation(method, state, params)
    state = next
    return result
  })
}

type Operations = { [M in Method]: (state: State, params: Params<M>) => [State, Result<M>] }

const OPERATIONS: Operations = {
  get(state, { organizationId }) {
    return [state, state.execution?.organizationId === organizationId ? state.execution : null]
  },
  claim(state, { lease, now }) {
    const next = applyIfPermitted(state, transitions.claim(lease, now))
    if (next) return [next, { ...next.execution, lease }]
    if (!state.execution || isFinal(state.execution)) return [state, 'closed']
    return [state, state.execution.lease?.owner === lease.owner ? { ...state.execution, lease } : 'held']
  },
  getStatus(state, { organizationId }) {
    const isVisible = state.execution?.organizationId === organizationId
    return [state, isVisible ? (state.execution?.status ?? null) : null]
  },
  getSummary(state, { organizationId }) {
    if (state.execution?.organizationId !== organizationId) return [state, null]
    const { input, inputAdaptations, output, feedback, logs, ...summary } = state.execution
    return [state, summary]
  },
  renew(state, renewal) {
    const next = applyIfPermitted(state, transitions.renew(renewal))
    return [next ?? state, next && { watchedUntil: next.execution?.watchedUntil ?? null }]
  },
  release(state, { owner, ...params }) {
    return toBoolean(state, applyIfPermitted(state, transitions.release(owner, params)))
  },
  finish(state, { execution, ...params }) {
    const { owner } = execution.lease
    const transition = transitions.finish(owner, params)
    const next = applyIfPermitted(state, transition)
    if (!next && state.finishedBy !== owner) return [state, null]
    const { steps, usage, model, openUntil } = (next ?? state).execution ?? execution
    const finished = { ...transitions.applyTransition(execution, transition), steps, usage, model, openUntil }
    return [{ ...(next ?? state), finishedBy: owner }, finished]
  },
  end(state, { organizationId, unleasedAt, listed, ...ending }) {
    const guard = { organizationId, ...(unleasedAt !== undefined && { unleasedAt }), ...listed }
    const next = applyIfPermitted(state, transitions.end(guard, ending))
    return [next ?? state, next?.execution ?? null]
  },
  settle(state, { execution: { openUntil }, until }) {
    if (openUntil === null) return [state, undefined]
    return [applyIfPermitted(state, transitions.settle(openUntil, until)) ?? state, undefined]
  },
  listOpenChildren(state) {
    return [state, []]
  },
  delete(state, { organizationId }) {
    if (state.execution?.organizationId !== organizationId) return [state, 'missing']
    if (!isFinal(state.execution)) return [state, 'open']
    return [{ execution: null, finishedBy: null, steps: [], isClosed: false, results: [] }, 'deleted']
  },
  listStale(state, { now }) {
    if (!state.execution) return [state, []]
    const { id, organizationId, tenantId, createdAt, deadlineAt, openUntil } = state.execution
    if (openUntil === null || openUntil >= now) return [state, []]
    return [state, [{ id, organizationId, tenantId, createdAt, deadlineAt, openUntil }]]
  },
  postpone(state, { stale, ...times }) {
    const next = applyIfPermitted(state, transitions.postpone(stale.openUntil, times))
    if (!next?.execution) return [state, null]
    const { attempts, attemptsSinceProgress, sharesWorker } = next.execution
    return [next, { attempts, attemptsSinceProgress, sharesWorker }]
  },
  append(state, { owner, step, progress }) {
    const existing = state.steps.find((other) => other.step.number === step.number)
    if (existing) return [state, existing.owner === owner]
    const isNext = step.number === state.steps.length + 1
    if (state.isClosed && isNext) return [state, false]
    return [{ ...state, steps: [...state.steps, { owner, step, progress }] }, true]
  },
  appendResult(state, { number, result }) {
    const existing = state.results.find(
      (other) => other.number === number && other.result.callId === result.callId,
    )
    if (existing) return [state, existing.result]
    return [{ ...state, results: [...state.results, { number, result }] }, result]
  },
  getProgress(state) {
    return [state, progressOf(state)]
  },
  close(state) {
    return [{ ...state, isClosed: true }, progressOf(state)]
  },
  read(state) {
    return [state, recordedSteps(state)]
  },
}

const progressOf = ({ steps }: State) => steps.at(-1)?.progress ?? null

/** The checkpoints as the step store returns them. */
export function recordedSteps({ steps, results }: State): RecordedStep[] {
  const sorted = [...steps].sort((a, b) => a.step.number - b.step.number)
  const resultsOf = (step: Step) => results.filter(({ number }) => number === step.number)
  return sorted.map(({ step }) => ({
    step,
    results: new Map(resultsOf(step).map(({ result }) => [result.callId, result])),
  }))
}

/** Whether the guard permits a transition. Stores express the same condition in their writes. */
export function isPermitted(execution: Execution, guard: transitions.Guard): boolean {
  const { status, lease, organizationId, openUntil, deadlineAt, suspension } = execution
  const isFree = suspension === null && (lease === null || lease.expiresAt < (guard.unleasedAt ?? 0))
  return (
    (status === 'IN_PROGRESS') !== (guard.isFinal ?? false) &&
    (guard.organizationId === undefined || guard.organizationId === organizationId) &&
    (guard.owner === undefined || guard.owner === lease?.owner) &&
    (guard.unleasedAt === undefined || isFree) &&
    (guard.openUntil === undefined || guard.openUntil === openUntil) &&
    (guard.deadlineAt === undefined || guard.deadlineAt === deadlineAt) &&
    (guard.suspendedAt === undefined || guard.suspendedAt === suspension?.at)
  )
}

function applyIfPermitted(state: State, transition: transitions.Transition) {
  const { execution } = state
  if (!execution || !isPermitted(execution, transition.guard)) return null
  return { ...state, execution: transitions.applyTransition(execution, transition) }
}

const toBoolean = (before: State, after: State | null): [State, boolean] => [after ?? before, after !== null]
