import { setTimeout as sleep } from 'node:timers/promises'
import { UNLIMITED } from '../../lib/core/access.ts'
import { backoffEnd } from '../../lib/core/attempts.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { type Execution, isFinal } from '../../lib/core/execution.ts'
import type { Json, JsonObject } from '../../lib/core/json/json.ts'
import { WAIT_RESULT } from '../../lib/core/step.ts'
import { type Engine, isoNow, newLease, timesOf } from '../../lib/engine/engine.ts'
import type { RunRequest } from '../../lib/engine/submit/run-request.ts'
import { runInProcess } from '../../lib/engine/submit/submit.ts'
import { waitForCompletion } from '../../lib/engine/wait-for-completion.ts'
import { timedOut, toResult } from '../../lib/engine/waiting/approvals.ts'
import { decideApproval } from '../../lib/engine/waiting/decide-approval.ts'
import { sendSignal } from '../../lib/engine/waiting/send-signal.ts'
import { wake } from '../../lib/engine/waiting/wake.ts'
import { attempt } from '../../lib/engine/worker/attempt.ts'
import { findOpenWaits, type OpenWait } from './open-waits.ts'

/** What ends a wait. `time`: it ends as if its time had come. */
export type Answer =
  | {
      kind: 'decision'
      decision: 'approve' | 'reject'
      note?: string | undefined
      input?: JsonObject | undefined
    }
  | { kind: 'signal'; name: string; data: Json }
  | { kind: 'time' }

/**
 * Answers some of the open waits; called again when the run waits again. What it throws ends the run in this process.
 * The signal aborts when something else has ended a wait meanwhile.
 */
export type AnswerWaits = (open: OpenWait[], signal: AbortSignal) => Promise<[OpenWait, Answer][]>

export type Answers = {
  answer: AnswerWaits
  /** Others can reach the run: its table is not only that of this process. */
  isShared?: boolean
  /** How a decision is stored, if it is not that of a test. */
  decide?: typeof decideApproval
  /** The run did not accept an answer, and still waits. */
  onRefused: (wait: OpenWait, reason: ServiceError) => void
}

/** An agent that waits more often probably never ends. */
const MAX_ROUNDS = 100

/** Between two looks at what others do with the run. */
const PAUSE_MS = { first: 200, factor: 1.5, max: 5_000 }

/** Runs an execution in this process to its end. A wait ends when it is answered, not before, and at any time. */
export async function runThroughWaits(
  engine: Engine,
  request: RunRequest,
  { answer, onRefused, decide = decideApproval, isShared = false }: Answers,
): Promise<Execution> {
  let execution = await runInProcess(engine, request)
  for (let rounds = 0; execution.suspension; rounds++) {
    if (rounds === MAX_ROUNDS) throw new Error(`The run was suspended more than ${MAX_ROUNDS} times.`)
    const open = await findOpenWaits(engine, execution)
    const answers =
      open.length === 0 || isShared
        ? await answerUnlessChanged(engine, execution, open, answer)
        : await answer(open, new AbortController().signal)
    for (const [wait, given] of answers) {
      try {
        await store(engine, execution, wait, given, decide)
      } catch (error) {
        if (!(error instanceof ServiceError) || error.status >= 500) throw error
        onRefused(wait, error)
      }
    }
    const answered = answers.map(([wait]) => wait.executionIds[0])
    for (const id of new Set(answered)) await resume(engine, id)
    await resumeCallers(engine, open)
    execution = await settle(engine, execution, isShared)
  }
  return execution
}

/** Answers, unless the run changes before: another process has resumed it, or something has arrived for it. */
async function answerUnlessChanged(
  engine: Engine,
  execution: Execution,
  open: OpenWait[],
  answer: AnswerWaits,
): Promise<[OpenWait, Answer][]> {
  const over = new AbortController()
  const answering = open.length > 0 ? answer(open, over.signal) : new Promise<never>(() => undefined)
  const changing = untilChanged(engine, execution, open, over.signal).then(() => [])
  try {
    return await Promise.race([answering, changing])
  } finally {
    over.abort()
    for (const loser of [answering, changing]) loser.catch(() => undefined)
  }
}

async function untilChanged(
  engine: Engine,
  execution: Execution,
  open: OpenWait[],
  signal: AbortSignal,
): Promise<void> {
  const keyOf = (waits: OpenWait[]) =>
    JSON.stringify(waits.map(({ executionIds, id, step }) => [executionIds, id, step]))
  const { first, factor, max } = PAUSE_MS
  for (let pauseMs = first; ; pauseMs = Math.min(pauseMs * factor, max)) {
    await sleep(pauseMs, undefined, { signal })
    for (const id of new Set([...open.map(({ executionIds: [id] }) => id), execution.id]))
      await resumeIfArrived(engine, id)
    const current = await engine.executions.get(execution)
    if (current?.suspension?.at !== execution.suspension?.at) return
    if (keyOf(await findOpenWaits(engine, execution)) !== keyOf(open)) return
  }
}

/** What is stored first under the id of a wait ends it. @throws ServiceError if the run does not accept the answer */
async function store(
  engine: Engine,
  { organizationId }: Execution,
  wait: OpenWait,
  answer: Answer,
  decide: typeof decideApproval,
): Promise<void> {
  const access = { ...UNLIMITED, organizationId, tokenId: APPROVER }
  const reference = { access, executionId: wait.executionIds[0] }
  switch (answer.kind) {
    case 'decision': {
      const { decision, note = null, input = null } = answer
      await decide(
        { ...engine, tokens: NO_TOKENS },
        { ...reference, approvalId: wait.id ?? '', decision, note, input },
      )
      return
    }
    case 'signal':
      await sendSignal(engine, { ...reference, name: answer.name, data: answer.data })
      return
    case 'time':
      await timeOut(engine, wait)
  }
}

/** What `by` of a decision says: nobody has used a token. */
const APPROVER = 'agents'
const NO_TOKENS = { get: async () => null }

/** The end of a wait is stored, so that no clock has to move. */
async function timeOut({ steps, system }: Engine, wait: OpenWait): Promise<void> {
  const { executionIds, kind, id, step: number, since, until } = wait
  if (number === undefined) return
  const at = isoNow(system)
  const callId = kind === 'retry' && until !== null ? backoffEnd(until) : WAIT_RESULT
  const result =
    kind === 'approval' && id !== undefined
      ? toResult(id, since, timedOut(at))
      : { callId, result: { ok: true as const, value: null }, startedAt: since, finishedAt: at }
  await steps.appendResult({ executionId: executionIds[0], number, result })
}

/** Goes on, whatever the time is: what ended the wait is stored. */
async function resume(engine: Engine, id: string): Promise<void> {
  const { executions, system } = engine
  const execution = await executions.getSuspended({ id })
  if (!execution) return
  const now = system.now()
  const openUntil = now + timesOf(engine).graceMs
  const leased = await executions.wake({ execution, lease: newLease(engine), openUntil, now })
  if (leased) await attempt(engine, leased)
}

/** Those further inside first: a caller goes on when what it called has ended. */
async function resumeCallers(engine: Engine, open: OpenWait[]): Promise<void> {
  const callers = open.flatMap(({ executionIds: [_, ...ids] }) =>
    ids.map((id, index) => ({ id, depth: ids.length - index })),
  )
  callers.sort((a, b) => b.depth - a.depth)
  for (const id of new Set(callers.map(({ id }) => id))) await resumeIfArrived(engine, id)
}

async function resumeIfArrived(engine: Engine, id: string): Promise<void> {
  const woken = await wake(engine, id, newLease(engine))
  if (typeof woken === 'object' && 'lease' in woken) await attempt(engine, woken)
}

const MAX_SETTLE_MS = 60_000

/** The execution when it is final or suspended again: another process may have resumed it. */
async function settle({ executions }: Engine, execution: Execution, isShared: boolean): Promise<Execution> {
  const timeoutMs = isShared ? Number.POSITIVE_INFINITY : MAX_SETTLE_MS
  const { id, organizationId } = execution
  const key = { id, organizationId }
  const ended = await waitForCompletion({ executions, ...key, timeoutMs, until: 'suspension' })
  const current = ended && ended !== 'IN_PROGRESS' && isFinal(ended) ? ended : await executions.get(key)
  if (!current) throw new Error(`Execution ${id} was deleted.`)
  return current
}
