import { setTimeout as sleep } from 'node:timers/promises'
import type { ExecutionRecord } from '../../lib/api/schemas/execution-record.ts'
import { executionStore } from '../../lib/dynamodb/execution-store.ts'
import { LOCAL_TABLE } from '../../local/emulators/provision.ts'
import type { ApiResponse } from '../support/client.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { findRemains } from './find-remains.ts'
import { type Observation, requestRun } from './load/run-client.ts'
import { type PlannedRun, planRuns } from './load/workload.ts'
import { startKiller } from './processes/killer.ts'
import { figuresOf, type Report } from './report.ts'
import { type Evidence, verifyRuns } from './verify-runs.ts'

export type FaultOptions = {
  seed: number
  asyncRuns: number
  syncRuns: number
  /** Average time between two kills. */
  killEveryMs: number
  /** Share of the requests to the emulators that get a fault. */
  rate: number
  leaseSeconds: number
  /** Once kills and faults have stopped: how long no run may become final before the remaining runs count as hanging. */
  settleMs: number
  /** Maximum time with kills and faults. */
  limitMs: number
  onProgress?: (line: string) => void
  /** Stops everything early. */
  signal?: AbortSignal
}

/** Concurrent runs. */
const CLIENTS = 32
/** Concurrent runs of the model agent: few, so that a kill repeats less than one model response on average. */
const MODEL_CLIENTS = 6
const PROGRESS_MS = 5_000
const CHECK_MS = 500

/** Default of `settleMs`. */
export const settleMsFor = (leaseSeconds: number) => (10 * leaseSeconds + 15) * 1000

/**
 * Requests runs from two services while their processes are killed and their requests get faults, waits until the runs
 * have settled, and verifies them. The seed determines the schedule (which fault the nth request of a proxy gets, when
 * which process is killed, the order of the runs), but not the timing of the operating system.
 */
export async function runFaults(options: FaultOptions): Promise<Report> {
  const { seed, killEveryMs, rate } = options
  const startedAt = performance.now()
  const cluster = await startCluster(options)
  let progress: NodeJS.Timeout | undefined
  try {
    const load = startLoad(cluster, planRuns({ ...options, log: cluster.log }), options.signal)
    progress = setInterval(() => options.onProgress?.(load.progress()), PROGRESS_MS)
    for (const proxy of Object.values(cluster.proxies)) proxy.setRate(rate)
    const killer = startKiller(cluster.services, cluster.runners, {
      seed,
      everyMs: killEveryMs,
      leaseMs: options.leaseSeconds * 1000,
    })
    try {
      await Promise.race([load.accepted, sleep(options.limitMs, undefined, { ref: false })])
    } finally {
      await killer.stop()
      for (const proxy of Object.values(cluster.proxies)) proxy.setRate(0)
    }
    const settlingAt = performance.now()
    const observations = await settle(load, options.settleMs)
    await Promise.all(cluster.services.map((service) => service.ready()))
    const seconds = {
      faults: (settlingAt - startedAt) / 1000,
      settling: (performance.now() - settlingAt) / 1000,
    }
    const evidence = await collectEvidence(cluster, observations)
    return {
      problems: [
        ...load.problems,
        ...verifyRuns(evidence),
        ...(await clusterProblems(cluster)),
        ...(await findRemains(cluster, observations)),
      ],
      figures: figuresOf(cluster, evidence, { clientErrors: load.errors, seconds }),
    }
  } finally {
    clearInterval(progress)
    await cluster.stop()
  }
}

/** Waits for as long as runs keep becoming final, however many are left and however slow the machine. */
async function settle(load: ReturnType<typeof startLoad>, settleMs: number): Promise<Observation[]> {
  let seen = -1
  let limit: NodeJS.Timeout | undefined
  const check = setInterval(() => {
    if (load.finals() === seen) return
    seen = load.finals()
    clearTimeout(limit)
    limit = setTimeout(load.abort, settleMs)
  }, CHECK_MS)
  try {
    return await load.done
  } finally {
    clearInterval(check)
    clearTimeout(limit)
  }
}

function startLoad(cluster: Cluster, runs: PlannedRun[], signal?: AbortSignal) {
  const errors: Record<string, number> = {}
  const problems: string[] = []
  const observations: Observation[] = []
  const aborting = new AbortController()
  const aborted = signal ? AbortSignal.any([signal, aborting.signal]) : aborting.signal
  const allAccepted = Promise.withResolvers<void>()
  let accepted = 0

  const work = async (queue: PlannedRun[]) => {
    for (let run = queue.shift(); run; run = queue.shift()) {
      const observation = await requestRun({
        run,
        clients: cluster.clients,
        count: (error) => {
          errors[error] = (errors[error] ?? 0) + 1
        },
        reportProblem: (problem) => problems.push(problem),
        onAccepted: () => {
          accepted++
          if (accepted === runs.length) allAccepted.resolve()
        },
        signal: aborted,
      })
      observations.push(observation)
    }
  }
  const modelRuns = runs.filter((run) => run.kind === 'model')
  const codeRuns = runs.filter((run) => run.kind !== 'model')
  const workers = [
    ...Array.from({ length: MODEL_CLIENTS }, () => work(modelRuns)),
    ...Array.from({ length: CLIENTS - MODEL_CLIENTS }, () => work(codeRuns)),
  ]
  const done = Promise.all(workers).then(() => observations)

  return {
    errors,
    problems,
    /** Every run has been accepted or aborted. */
    accepted: Promise.race([allAccepted.promise, done]),
    done,
    abort: () => aborting.abort(),
    finals: () => observations.length,
    progress: () =>
      `${accepted} of ${runs.length} accepted, ${observations.length} final, ${cluster.kills().all} kills`,
  }
}

async function collectEvidence(cluster: Cluster, observations: Observation[]): Promise<Evidence> {
  const { table, organizationId, models } = cluster
  const executions = executionStore(table)
  const stored: Evidence['stored'] = new Map()
  for (const { executionId: id } of observations) {
    const execution = id === null ? null : await executions.get({ organizationId, id })
    if (execution) stored.set(execution.id, execution)
  }
  const { modelRequests, toolCalls } = models
  const kills = cluster.kills().all
  return { observations, records: await listAll(cluster), stored, modelRequests, toolCalls, kills }
}

/** Every execution of the organization, from the paginated API of one service. */
async function listAll({ clients }: Cluster): Promise<ExecutionRecord[]> {
  const records: ExecutionRecord[] = []
  let path: string | undefined = '/v1/agent_executions?limit=100'
  while (path) {
    const response: ApiResponse | undefined = await clients[0]?.('GET', path)
    if (response?.status !== 200) throw new Error(`Listing the executions failed: ${response?.text}`)
    records.push(...response.json)
    path = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
  }
  return records
}

/** Problems that the parts of the cluster have found, the harness's own included. */
async function clusterProblems({ monitor, endpoint, models, services, proxies }: Cluster): Promise<string[]> {
  await monitor.compareWithTable(endpoint, LOCAL_TABLE)
  const problems = [...services.flatMap((service) => service.problems), ...monitor.problems]
  try {
    models.assertValidRequests()
  } catch (error) {
    problems.push(String(error))
  }
  for (const [name, { counts }] of Object.entries(proxies)) {
    if (counts.failed > 0) problems.push(`The ${name} emulator did not respond to ${counts.failed} requests.`)
  }
  for (const operation of ['SendMessage', 'ReceiveMessage', 'DeleteMessageBatch']) {
    if (!proxies.sqs.counts.operations[operation]) problems.push(`No ${operation} went through the proxy.`)
  }
  return problems
}
