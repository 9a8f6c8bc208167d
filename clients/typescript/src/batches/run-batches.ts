import { AgentError } from '../errors.ts'
import { type Call, sleep, untilAborted } from '../http/call.ts'
import type { Caller } from '../http/caller.ts'
import {
  agentPath,
  batchPath,
  type Connection,
  type RequestSpec,
  readRetryAfter,
  requestJson,
  toQuery,
} from '../http/request.ts'
import type { BatchOptions, BatchWaitOptions } from '../options.ts'
import type { Batch, BatchResult, Violation } from '../records.ts'
import { newIdempotencyKey } from '../runs/runs.ts'
import { type BatchInputs, toParts } from './parts.ts'
import { readResults } from './results.ts'

/** Between two reads, if the service does not tell. */
const PAUSE_MS = 2_000

/** The least `maxBatchCostUsd` of the service. */
const MIN_COST_USD = 0.000_001

/**
 * Runs batches one after another, so that few inputs and results are in memory, and one cost limit holds for all.
 * @param ids gets those of the batches that were started
 */
export async function* runBatches<Output>(
  caller: Caller,
  agent: string,
  inputs: BatchInputs<unknown>,
  { signal, timeoutMs, onProgress, idempotencyKey = newIdempotencyKey(), ...parameters }: BatchOptions,
  ids: string[],
): AsyncGenerator<BatchResult<Output>, void, undefined> {
  const { connection } = caller
  const call = caller.open({ signal, timeoutMs }, Number.POSITIVE_INFINITY)
  const parts = toParts(inputs, connection.stringify)
  let { maxBatchCostUsd } = parameters
  let lines = 0
  try {
    for (;;) {
      const { value: part } = await untilAborted(parts.next(), call.signal)
      if (!part) return
      const { body, customIds } = part
      if (maxBatchCostUsd !== undefined && maxBatchCostUsd < MIN_COST_USD && lines > 0)
        for (const customId of customIds) yield overBudget(customId)
      else {
        // The same key again for the first of them, so that a batch that is repeated with it is found.
        const key = lines === 0 ? idempotencyKey : `${idempotencyKey}-${lines}`
        const spec = toBatchRequest(agent, body, key, { ...parameters, maxBatchCostUsd })
        const { id } = await requestJson<Batch>(connection, call, spec).catch((error: unknown) =>
          rethrow(error, lines),
        )
        // None if the lines were only checked.
        if (id) {
          ids.push(id)
          const batch = await waitForBatch(connection, call, id, onProgress)
          if (maxBatchCostUsd !== undefined) maxBatchCostUsd -= batch.costUsd
          yield* readResults<BatchResult<Output>>(connection, call, batch)
        }
      }
      lines += customIds.length
    }
  } finally {
    call.close()
    // It may wait for an input that never comes.
    void parts.return().catch(() => undefined)
  }
}

export const toBatchRequest = (
  agent: string,
  body: string,
  key: string,
  parameters: object,
): RequestSpec => ({
  method: 'POST',
  path: `${agentPath(agent)}/batches${toQuery({ ...parameters })}`,
  headers: { 'Content-Type': 'application/x-ndjson', 'Idempotency-Key': key },
  body,
})

/** Reads the batch whenever the service asks for it (`Retry-After`). */
export async function waitForBatch(
  connection: Connection,
  call: Call,
  id: string,
  onProgress: BatchWaitOptions['onProgress'],
): Promise<Batch> {
  for (;;) {
    let pauseMs = PAUSE_MS
    const batch = await requestJson<Batch>(connection, call, { path: batchPath(id) }, ({ headers }) => {
      pauseMs = readRetryAfter(headers) ?? pauseMs
    })
    onProgress?.(batch)
    if (batch.status === 'ENDED') return batch
    await sleep(pauseMs, call.signal)
  }
}

const overBudget = (customId: string): BatchResult<never> => ({
  customId,
  executionId: null,
  status: 'ERROR',
  output: null,
  error: { code: 'BudgetExceeded', message: 'The batches before it have reached the cost limit.' },
})

/** Numbers the lines of an error from the first input on. */
function rethrow(error: unknown, linesBefore: number): never {
  if (error instanceof AgentError && 'errors' in error && Array.isArray(error.errors))
    for (const violation of error.errors as Violation[]) {
      const { line } = violation
      if (line === undefined) continue
      violation.line = line + linesBefore
      violation.message = violation.message.replace(`Line ${line}:`, `Line ${violation.line}:`)
    }
  throw error
}
