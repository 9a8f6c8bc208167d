import { setTimeout as sleep } from 'node:timers/promises'
import type { BatchRecord } from '../../../../lib/contract/records/batch.ts'
import { seededRandom } from '../../../support/data/random.ts'
import type { ApiClient, ApiResponse } from '../../../support/service/client.ts'
import type { Cluster } from '../cluster.ts'
import { codeRun } from './planned-run.ts'
import { withRetry } from './run-client.ts'

export type PlannedBatch = {
  marker: string
  slug: string
  lines: { customId: string; input: { marker: string }; output: object }[]
  isDeleted: boolean
}

export type BatchResult = {
  customId: string
  status: string
  output: object | null
  error: { code: string } | null
}

/** What a client saw of a batch. */
export type BatchObservation = {
  batch: PlannedBatch
  id: string | null
  final: BatchRecord | null
  results: BatchResult[]
  isDeleted: boolean
}

export type BatchLoad = ReturnType<typeof startBatches>

const POLL_MS = 500

/** Batches of the code agent. The first one is deleted as soon as it has ended. */
export function planBatches({
  seed,
  lines,
  log,
}: {
  seed: number
  lines: number
  log: string
}): PlannedBatch[] {
  const random = seededRandom(seed, 'batches')
  return [true, false].map((isDeleted, index) => {
    const runs = Array.from({ length: lines }, (_, line) => {
      const params = { marker: `batch-${seed}-${index}-${line}`, number: random.between(1, 1_000), log }
      return codeRun({ ...params, steps: random.between(0, 2), pauseMs: 30 }, null)
    })
    const slug = runs[0]?.slug ?? ''
    const toLine = ({ input, output }: (typeof runs)[number]) => ({ customId: input.marker, input, output })
    return { marker: `batch-${seed}-${index}`, slug, lines: runs.map(toLine), isDeleted }
  })
}

/** Requests the batches and waits for their ends. `progress`: lines that have ended. */
export function startBatches({ clients }: Cluster, planned: PlannedBatch[], signal?: AbortSignal) {
  const aborting = new AbortController()
  const aborted = signal ? AbortSignal.any([signal, aborting.signal]) : aborting.signal
  const problems: string[] = []
  const errors: Record<string, number> = {}
  const ended = new Map<string, number>()

  async function run(batch: PlannedBatch, index: number): Promise<BatchObservation> {
    const { marker, slug, lines } = batch
    const retrying = {
      run: { index, marker },
      clients,
      count: (error: string) => {
        errors[error] = (errors[error] ?? 0) + 1
      },
      reportProblem: (problem: string) => problems.push(problem),
      signal: aborted,
    }
    const sendUntil = (send: (call: ApiClient) => Promise<ApiResponse>, expected: number[]) =>
      withRetry(retrying, send, expected)
    const observed: BatchObservation = { batch, id: null, final: null, results: [], isDeleted: false }
    const body = lines.map(({ customId, input }) => ({ customId, input }))
    const options = { body, headers: { 'Idempotency-Key': marker } }
    const accepted = await sendUntil(
      (call) => call('POST', `/v1/agents/${slug}/batches?maxConcurrency=8`, options),
      [202],
    )
    observed.id = accepted?.json.id ?? null
    const path = `/v1/batches/${observed.id}`
    while (accepted && !observed.final && !aborted.aborted) {
      const record = (await sendUntil((call) => call('GET', path), [200]))?.json as BatchRecord | undefined
      if (record) ended.set(marker, record.lines - record.counts.IN_PROGRESS)
      if (record?.status === 'ENDED') observed.final = record
      await sleep(POLL_MS)
    }
    if (!observed.final) return observed
    const results = await sendUntil((call) => call('GET', `${path}/results?limit=1000`), [200])
    observed.results = (results?.text.trimEnd().split('\n') ?? []).map((line) => JSON.parse(line))
    if (!batch.isDeleted) return observed
    // 404 if the response to the first request was lost.
    observed.isDeleted = (await sendUntil((call) => call('DELETE', path), [204, 404])) !== null
    return observed
  }

  return {
    problems,
    errors,
    done: Promise.all(planned.map(run)),
    progress: () => [...ended.values()].reduce((sum, count) => sum + count, 0),
    abort: () => aborting.abort(),
  }
}
