import { setTimeout as sleep } from 'node:timers/promises'
import type { ExecutionRecord } from '../../../../lib/contract/records/execution.ts'
import { ERRORS, type ErrorCode } from '../../../../lib/core/errors.ts'
import type { JsonObject } from '../../../../lib/core/json/json.ts'
import type { ApiClient, ApiResponse } from '../../../support/service/client.ts'
import { type PlannedRun, SIGNAL } from './planned-run.ts'

/** What the client saw of its run. */
export type Observation = {
  run: PlannedRun
  executionId: string | null
  /** The output in a sync response. */
  output: JsonObject | null
  /** Each status that polling returned, without repetitions. */
  statuses: string[]
  final: ExecutionRecord | null
  /** Whether the client deleted it. */
  isDeleted: boolean
}

type Retrying = {
  run: Pick<PlannedRun, 'index' | 'marker'>
  /** One client per service: a failed request is retried on the next. */
  clients: ApiClient[]
  /** Counts failed requests by error code. */
  count: (error: string) => void
  /** Reports a response that no client should ever get. */
  reportProblem: (problem: string) => void
  signal: AbortSignal
  /** Error codes after which a request is sent again. */
  retryable?: ErrorCode[]
}

type Params = Retrying & {
  run: PlannedRun
  onAccepted: (executionId: string | null) => void
  /** Between two polls. */
  pollMs?: number
}

export const RETRYABLE: ErrorCode[] = ['Unavailable', 'TooManyRequests']
/** Error responses that name the run's execution, which is then polled. The last one, if the agent failed. */
const NAMES_EXECUTION: ErrorCode[] = [
  'ExecutionInProgress',
  'ExecutionStillRunning',
  'ExecutionFailed',
  'InputSchemaMismatch',
]
const RETRY_MS = 200
const POLL_MS = 250

/** Requests a run with retries and an idempotency key, and polls it until it is final or the signal aborts. */
export async function requestRun(params: Params): Promise<Observation> {
  const { run, onAccepted } = params
  const observed: Observation = {
    run,
    executionId: null,
    output: null,
    statuses: [],
    final: null,
    isDeleted: false,
  }
  await submit(params, observed)
  onAccepted(observed.executionId)
  if (!observed.executionId) return observed
  const path = `/v1/agent_executions/${observed.executionId}`
  await poll(params, observed, path)
  if (run.isDeleted && observed.final) await deleteRun(params, observed, path)
  return observed
}

async function submit(params: Params, observed: Observation): Promise<void> {
  const { run, reportProblem } = params
  const path = `/v1/agents/${run.slug}/executions?execMode=${run.mode}&useCache=${run.useCache}`
  const options = { body: run.input, headers: { 'Idempotency-Key': run.marker } }
  const response = await withRetry(params, (call) => call('POST', path, options))
  if (!response) return
  const { status, json } = response
  if (status === 200 || status === 202) {
    observed.executionId = response.headers.get('x-execution-id')
    // A run that waits answers with its record.
    if (run.mode === 'sync' && status === 200) observed.output = json
  } else {
    observed.executionId = json.executionId ?? null
  }
  if (!observed.executionId)
    reportProblem(`${run.marker}: HTTP ${status} without an execution ID: ${response.text}`)
}

async function poll(params: Params, observed: Observation, path: string): Promise<void> {
  while (!params.signal.aborted) {
    const response = await withRetry(params, (call) => call('GET', path))
    if (!response) return
    if (response.status !== 200) return params.reportProblem(`${observed.run.marker}: ${response.text}`)
    const record = response.json as ExecutionRecord
    if (observed.statuses.at(-1) !== record.status) observed.statuses.push(record.status)
    if (record.status !== 'IN_PROGRESS') {
      observed.final = record
      return
    }
    if (record.waitingFor) await endWaits(params, path, record.waitingFor)
    await sleep(params.pollMs ?? POLL_MS)
  }
}

/** Sends what the run waits for, also again: only the first one counts. */
async function endWaits(
  params: Params,
  path: string,
  waits: NonNullable<ExecutionRecord['waitingFor']>,
): Promise<void> {
  const { marker } = params.run
  for (const { kind, id } of waits) {
    // 409 if it has ended in the meantime.
    if (kind === 'signal') {
      const options = { body: SIGNAL.data, headers: { 'Idempotency-Key': marker } }
      await withRetry(params, (call) => call('POST', `${path}/signals/${SIGNAL.name}`, options), [202, 409])
    }
    if (kind === 'approval') {
      const options = { body: { decision: 'approve' } }
      await withRetry(params, (call) => call('POST', `${path}/approvals/${id}`, options), [200, 409])
    }
  }
}

/** Deletes the execution, which no service returns afterwards. */
async function deleteRun(params: Params, observed: Observation, path: string): Promise<void> {
  const { run, reportProblem } = params
  // 404 if the response to the first request was lost.
  const deleted = await withRetry(params, (call) => call('DELETE', path), [204, 404])
  if (!deleted) return
  observed.isDeleted = true
  const read = await withRetry(params, (call) => call('GET', path), [200, 404])
  if (read?.status === 200) reportProblem(`${run.marker} can be read after it was deleted.`)
}

/** The first response that needs no retry; null when the signal aborts first or the response is a problem. */
export async function withRetry(
  params: Retrying,
  send: (call: ApiClient) => Promise<ApiResponse>,
  expected = [200, 202],
): Promise<ApiResponse | null> {
  const { run, clients, count, reportProblem, signal, retryable = RETRYABLE } = params
  for (let tries = run.index; !signal.aborted; tries++) {
    const call = clients[tries % clients.length] as ApiClient
    const response = await send(call).catch(() => null)
    if (response && expected.includes(response.status)) return response
    if (!response) {
      count('connection refused or reset')
    } else {
      const code = errorCodeOf(response)
      count(code ?? `HTTP ${response.status} without a problem document`)
      if (code && NAMES_EXECUTION.includes(code) && response.json.executionId) return response
      if (!code || !retryable.includes(code)) {
        reportProblem(`${run.marker}: HTTP ${response.status}: ${response.text}`)
        return null
      }
    }
    const seconds = Number(response?.headers.get('retry-after') ?? 0)
    await sleep(Math.max(RETRY_MS, seconds * 1000))
  }
  return null
}

/** The error code of a problem document with the documented status; null for anything else. */
function errorCodeOf({ status, headers, json }: ApiResponse): ErrorCode | null {
  if (headers.get('content-type') !== 'application/problem+json') return null
  const code = json?.code as ErrorCode
  return ERRORS[code]?.status === status ? code : null
}
