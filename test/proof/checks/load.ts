import pLimit from 'p-limit'
import { percentile } from '../../../bench/harness/rounds.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { codeRun, EXHAUSTED, type PlannedRun } from '../../nightly/faults/load/planned-run.ts'
import { type Observation, RETRYABLE, requestRun } from '../../nightly/faults/load/run-client.ts'
import { listAll } from '../../nightly/faults/run-faults.ts'
import { verifyRuns } from '../../nightly/faults/verify/verify-runs.ts'
import { generatePacedLoad, newLoad } from '../../nightly/soak/load.ts'
import { createClient } from '../../support/service/client.ts'
import type { Findings } from '../run-proof.ts'

/** A service to check, with an organization of its own that has the agents of `prepare.ts`. */
export type Service = { baseUrl: string; token: string; organizationId: string; table: Table }

type Kind = Extract<PlannedRun['kind'], 'instant' | 'steps' | 'slow' | 'large'>

/** How often each kind of run occurs, of ten, its steps, and how long each takes. */
const KINDS: Record<Kind, { share: number; steps: number; pauseMs: number; padding: number }> = {
  instant: { share: 5, steps: 0, pauseMs: 0, padding: 0 },
  steps: { share: 2, steps: 3, pauseMs: 200, padding: 0 },
  // Longer than the runners live that a disturbance kills: it can only end by resuming.
  slow: { share: 2, steps: 3, pauseMs: 1_500, padding: 0 },
  large: { share: 1, steps: 0, pauseMs: 0, padding: 300_000 },
}
const NAMES = Object.entries(KINDS).flatMap(([kind, { share }]) => Array<Kind>(share).fill(kind as Kind))

/** What API Gateway answers while Lambda throttles the function. */
const RETRIED = [...RETRYABLE, 'InternalError' as const]
const POLL_MS = 2_000
const MAX_PROBLEMS = 50
const CONCURRENT_READS = 16

/** Synchronous and asynchronous runs of every kind in turn. The marker is the idempotency key. */
export function planRun(index: number, pauseShare = 1): PlannedRun {
  const kind = NAMES[index % NAMES.length] ?? 'instant'
  const { steps, pauseMs, padding } = KINDS[kind]
  const marker = `proof-${index}`
  const params = { marker, number: 1 + (index % 100), steps, pauseMs: pauseMs * pauseShare, log: '/dev/null' }
  return {
    index,
    marker,
    kind,
    mode: Math.floor(index / NAMES.length) % 3 === 0 ? 'sync' : 'async',
    ...codeRun(params, padding > 0 ? marker.padEnd(padding, marker) : null),
    errors: EXHAUSTED,
    useCache: false,
    isDeleted: index % 20 === 0,
    fault: null,
  }
}

type Options = {
  durationMs: number
  perSecond: number
  /** How long runs may take after the load. */
  settleMs: number
  signal: AbortSignal
  /** Disturbs the service while it is under load, and returns what went wrong with that. */
  disturb: (signal: AbortSignal) => Promise<string[]>
  /** Shortens the steps of agents, for tests. */
  pauseShare?: number
}

/** Runs agents at a fixed rate until each run is final, and finds runs that were lost, doubled or that ended wrong. */
export async function checkLoad(service: Service, options: Options): Promise<Findings> {
  const { durationMs, settleMs, signal } = options
  const call = createClient(service.baseUrl, service.token)
  const observations: Observation[] = []
  const problems: string[] = []
  const errors: Record<string, number> = {}
  const ended = new AbortController()
  const stop = AbortSignal.any([signal, AbortSignal.timeout(durationMs + settleMs)])
  let index = 0
  const perform = async () => {
    const run = planRun(index++, options.pauseShare)
    const observation = await requestRun({
      run,
      clients: [call],
      count: (error) => {
        errors[error] = (errors[error] ?? 0) + 1
      },
      reportProblem: (problem) => problems.push(problem),
      onAccepted: () => undefined,
      signal: stop,
      retryable: RETRIED,
      pollMs: Math.min(POLL_MS, durationMs / 10),
    })
    observations.push(observation)
  }
  const load = newLoad()
  const nameOf = () => {
    const { kind, mode } = planRun(index)
    return `${mode} ${kind}`
  }
  const disturbing = options.disturb(AbortSignal.any([signal, ended.signal]))
  const { perSecond } = options
  await generatePacedLoad({ operations: { next: nameOf, perform }, durationMs, perSecond, signal, load })
  ended.abort()
  problems.push(...(await disturbing))
  const records = await listAll(call)
  const stored = await readStored(service, observations)
  const evidence = {
    observations,
    records,
    stored,
    modelRequests: new Map(),
    tokens: new Map(),
    toolCalls: [],
  }
  problems.push(...load.errors, ...verifyRuns({ ...evidence, kills: 0, outages: 0 }))
  if (load.notStarted > 0)
    problems.push(`${load.notStarted} runs were not requested: the service did not keep up.`)
  return { problems: problems.slice(0, MAX_PROBLEMS), figures: figuresOf({ observations, errors, load }) }
}

async function readStored({ table, organizationId }: Service, observations: Observation[]) {
  const executions = executionStore(table)
  const limit = pLimit(CONCURRENT_READS)
  const ids = observations.flatMap(({ executionId }) => executionId ?? [])
  const read = await Promise.all(ids.map((id) => limit(() => executions.get({ organizationId, id }))))
  return new Map<string, Execution>(
    read.flatMap((execution) => (execution ? [[execution.id, execution]] : [])),
  )
}

function figuresOf({
  observations,
  errors,
  load,
}: {
  observations: Observation[]
  errors: Record<string, number>
  load: ReturnType<typeof newLoad>
}): Record<string, string | number> {
  const finals = observations.flatMap(({ final }) => final ?? [])
  const failed = Map.groupBy(
    finals.flatMap(({ error }) => error ?? []),
    ({ code }) => code,
  )
  const byName = [...Map.groupBy(load.samples, ({ name }) => name)].toSorted(([a], [b]) => a.localeCompare(b))
  return {
    'runs requested': observations.length,
    SUCCESS: finals.filter(({ status }) => status === 'SUCCESS').length,
    ...Object.fromEntries([...failed].map(([code, same]) => [`ERROR ${code}`, same.length])),
    ...Object.fromEntries(
      Object.entries(errors).map(([error, count]) => [`requests retried: ${error}`, count]),
    ),
    ...Object.fromEntries(
      byName.map(([name, samples]) => {
        const times = samples.map(({ ms }) => ms)
        const [p50, p99] = [0.5, 0.99].map((share) => Math.round(percentile(times, share)))
        return [`${name}: ms p50, p99`, `${p50}, ${p99}`]
      }),
    ),
  }
}
