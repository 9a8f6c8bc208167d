import { setTimeout as sleep } from 'node:timers/promises'
import type { ExecutionRecord } from '../../lib/api/schemas/execution-record.ts'
import { PROBLEMS, type ProblemCode } from '../../lib/core/errors.ts'
import type { JsonObject } from '../../lib/core/json.ts'
import type { Answer, Call } from '../support/client.ts'
import type { PlannedRun } from './plan.ts'

/** What a client got to know of its run. */
export type Observation = {
  run: PlannedRun
  executionId: string | null
  /** The output in a sync answer. */
  answered: JsonObject | null
  /** Each status that polling saw, repetitions left out. */
  statuses: string[]
  final: ExecutionRecord | null
}

type Params = {
  run: PlannedRun
  /** One client for each service: an answer that did not come from one is asked of the next. */
  clients: Call[]
  /** Counts what came back other than the answer hoped for, by name. */
  count: (what: string) => void
  /** Called with whatever no client should ever see. */
  complain: (what: string) => void
  onAccepted: () => void
  signal: AbortSignal
}

const RETRYABLE: ProblemCode[] = ['Unavailable', 'TooManyRequests']
/** Problems that name the execution which is, or was, this run: from there on it is polled. */
const NAMING: ProblemCode[] = ['ExecutionInProgress', 'ExecutionStillRunning', 'ExecutionFailed']
const RETRY_MS = 200
const POLL_MS = 250

/** Asks for a run as a careful client does, and polls it until it is final or the signal says that it is enough. */
export async function callRun(params: Params): Promise<Observation> {
  const { run, onAccepted } = params
  const observed: Observation = { run, executionId: null, answered: null, statuses: [], final: null }
  await accept(params, observed)
  onAccepted()
  if (observed.executionId) await poll(params, observed, `/v1/agent_executions/${observed.executionId}`)
  return observed
}

async function accept(params: Params, observed: Observation): Promise<void> {
  const { run, complain } = params
  const path = `/v1/agents/${run.slug}/executions${run.mode === 'async' ? '?execMode=async' : ''}`
  const options = { body: run.input, headers: { 'Idempotency-Key': run.marker } }
  const answer = await ask(params, (call) => call('POST', path, options))
  if (!answer) return
  const { status, json } = answer
  if (status === 200 || status === 202) {
    observed.executionId = answer.headers.get('x-execution-id')
    if (run.mode === 'sync') observed.answered = json
  } else {
    observed.executionId = json.executionId ?? null
  }
  if (!observed.executionId) complain(`${run.marker}: an answer ${status} names no execution: ${answer.text}`)
}

async function poll(params: Params, observed: Observation, path: string): Promise<void> {
  while (!params.signal.aborted) {
    const answer = await ask(params, (call) => call('GET', path))
    if (!answer) return
    if (answer.status !== 200) return params.complain(`${observed.run.marker}: ${answer.text}`)
    const record = answer.json as ExecutionRecord
    if (observed.statuses.at(-1) !== record.status) observed.statuses.push(record.status)
    if (record.status !== 'IN_PROGRESS') {
      observed.final = record
      return
    }
    await sleep(POLL_MS)
  }
}

/** The first answer that is not worth another try; null when there is none in time, or none that a client may get. */
async function ask(params: Params, send: (call: Call) => Promise<Answer>): Promise<Answer | null> {
  const { run, clients, count, complain, signal } = params
  for (let tries = run.index; !signal.aborted; tries++) {
    const call = clients[tries % clients.length] as Call
    const answer = await send(call).catch(() => null)
    if (answer?.status === 200 || answer?.status === 202) return answer
    if (!answer) {
      count('connection refused or cut')
    } else {
      const code = codeOf(answer)
      count(code ?? `HTTP ${answer.status} that is no problem document`)
      if (code && NAMING.includes(code) && answer.json.executionId) return answer
      if (!code || !RETRYABLE.includes(code)) {
        complain(`${run.marker}: HTTP ${answer.status}: ${answer.text}`)
        return null
      }
    }
    const seconds = Number(answer?.headers.get('retry-after') ?? 0)
    await sleep(Math.max(RETRY_MS, seconds * 1000))
  }
  return null
}

/** The code of a problem document as the contract has it; null for anything else. */
function codeOf({ status, headers, json }: Answer): ProblemCode | null {
  if (headers.get('content-type') !== 'application/problem+json') return null
  const code = json?.code as ProblemCode
  return PROBLEMS[code]?.status === status ? code : null
}
