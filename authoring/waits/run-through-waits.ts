import { setTimeout as sleep } from 'node:timers/promises'
import type { Execution } from '../../lib/core/execution.ts'
import type { Json, JsonObject } from '../../lib/core/json/json.ts'
import { WAIT_RESULT } from '../../lib/core/step.ts'
import { type Engine, isoNow, newLease, timesOf } from '../../lib/engine/engine.ts'
import type { RunRequest } from '../../lib/engine/submit/run-request.ts'
import { runInProcess } from '../../lib/engine/submit/submit.ts'
import { waitForCompletion } from '../../lib/engine/wait-for-completion.ts'
import { timedOut } from '../../lib/engine/waiting/code-waits.ts'
import { attempt } from '../../lib/engine/worker/attempt.ts'
import { processMessage } from '../../lib/engine/worker/process-message.ts'
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

/** Answers some of the open waits. Called again when the run waits again. What it throws ends the run in this process. */
export type AnswerWaits = (open: OpenWait[]) => Promise<[OpenWait, Answer][]>

/** Between two looks at an agent that was called, and that another process runs. */
const PAUSE_MS = 100

/** An agent that waits more often probably never ends. */
const MAX_ROUNDS = 200

/**
 * Runs an execution in this process to its end. Time does not pass while it is suspended: a wait ends when it is
 * answered.
 */
export async function runThroughWaits(
  engine: Engine,
  request: RunRequest,
  answer: AnswerWaits,
): Promise<Execution> {
  let execution = await runInProcess(engine, request)
  for (let rounds = 0; execution.suspension; rounds++) {
    if (rounds === MAX_ROUNDS) throw new Error(`The run was suspended more than ${MAX_ROUNDS} times.`)
    const open = await findOpenWaits(engine, execution)
    const answers = open.length > 0 ? await answer(open) : []
    for (const [wait, given] of answers) await store(engine, wait, given)
    const answered = new Map(answers.map(([{ executionIds }]) => [executionIds[0], executionIds.slice(1)]))
    for (const id of answered.keys()) await resume(engine, id)
    const callers = open.length > 0 ? [...answered.values()] : [[execution.id]]
    // Those further inside first: a caller goes on when what it called has ended.
    for (const id of new Set(callers.flat())) await processMessage(engine, id)
    if (open.length === 0) await sleep(PAUSE_MS)
    execution = await settle(engine, execution)
  }
  return execution
}

/** A first result that is stored under the id of a wait ends it. */
async function store({ steps, signals, system }: Engine, wait: OpenWait, answer: Answer): Promise<void> {
  const at = isoNow(system)
  const [executionId] = wait.executionIds
  const end = (callId: string, value: Json) =>
    steps.appendResult({
      executionId,
      number: wait.step ?? 0,
      result: { callId, result: { ok: true, value }, startedAt: wait.since, finishedAt: at },
    })
  switch (answer.kind) {
    case 'decision': {
      const { decision, note = null, input = null } = answer
      const value = { decision, note, by: null, decidedAt: at, input }
      await end(wait.id ?? '', value)
      return
    }
    case 'signal': {
      const { name, data } = answer
      const bytes = Buffer.byteLength(JSON.stringify(data))
      await signals.put({ executionId, signal: { id: system.newId(), name, data, receivedAt: at, bytes } })
      return
    }
    case 'time':
      if (wait.kind === 'approval') await end(wait.id ?? '', timedOut(at))
      else if (wait.step !== undefined) await end(WAIT_RESULT, null)
  }
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

const MAX_SETTLE_MS = 60_000

/** The execution when it is final or suspended again: a worker of the service may have resumed it. */
async function settle({ executions }: Engine, { id, organizationId }: Execution): Promise<Execution> {
  const key = { id, organizationId }
  await waitForCompletion({ executions, ...key, timeoutMs: MAX_SETTLE_MS, until: 'suspension' })
  const execution = await executions.get(key)
  if (!execution) throw new Error(`Execution ${id} was deleted.`)
  return execution
}
