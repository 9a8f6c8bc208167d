import { setTimeout as sleep } from 'node:timers/promises'
import type { ExecutionRecord } from '../../../lib/contract/records/execution.ts'
import { batchStore } from '../../../lib/dynamodb/batch-store.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { stepStore } from '../../../lib/dynamodb/executions/step-store.ts'
import { seededRandom } from '../../support/data/random.ts'
import { type ApiClient, type ApiResponse, getNextLink } from '../../support/service/client.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { type BatchLoad, type BatchObservation, planBatches, startBatches } from './load/batch-load.ts'
import { startHangUps } from './load/hang-ups.ts'
import { isChild } from './load/model-runs.ts'
import type { Observation } from './load/run-client.ts'
import { type RunLoad, startLoad } from './load/start-load.ts'
import { planRuns } from './load/workload.ts'
import { startKiller } from './processes/killer.ts'
import { figuresOf, type Report } from './report.ts'
import { findRemains } from './verify/find-remains.ts'
import { verifyBatches } from './verify/verify-batches.ts'
import { missingDeliveries, verifyDeliveries } from './verify/verify-deliveries.ts'
import { verifyRetries } from './verify/verify-retries.ts'
import { type Evidence, verifyRuns } from './verify/verify-runs.ts'

export type FaultOptions = {
  seed: number
  asyncRuns: number
  syncRuns: number
  /** Average time between two kills. */
  killEveryMs: number
  /** Maximum time with kills and faults. */
  limitMs: number
  onProgress?: (line: string) => void
  /** Stops everything early. */
  signal?: AbortSignal
}

const PROGRESS_MS = 5_000
const CHECK_MS = 500
/** Of each batch, for an asynchronous run. */
const LINES_PER_RUN = 1 / 4
const MIN_LINES = 20

/** Share of the requests to the emulators that get a fault. */
const RATE = 0.05
const LEASE_SECONDS = 3
/** After kills and faults: how long no run may get further before the remaining ones count as hanging. */
const SETTLE_MS = 120_000

/**
 * Requests runs from two services while their processes are killed and their requests get faults, waits until the runs
 * have settled, and verifies them. The seed determines the schedule (which fault the nth request of a proxy gets, when
 * which process is killed, the order of the runs), but not the timing of the operating system.
 */
export async function runFaults(options: FaultOptions): Promise<Report> {
  const startedAt = performance.now()
  const cluster = await startCluster({ seed: options.seed, leaseSeconds: LEASE_SECONDS })
  const runs = planRuns({ ...options, log: cluster.log })
  cluster.targeted.plan(runs)
  let progress: NodeJS.Timeout | undefined
  try {
    const load = startLoad(cluster, runs, options.signal)
    const lines = Math.max(Math.ceil(options.asyncRuns * LINES_PER_RUN), MIN_LINES)
    const batches = startBatches(
      cluster,
      planBatches({ ...options, lines, log: cluster.log }),
      options.signal,
    )
    progress = setInterval(() => options.onProgress?.(load.progress()), PROGRESS_MS)
    const hangUps = await withFaults(cluster, load, options)
    const settlingAt = performance.now()
    await Promise.all(cluster.services.map((service) => service.ready()))
    const [observations, batchObservations] = await settle(load, batches)
    await waitForOthers(cluster)
    await waitForDeletions(cluster, batchObservations)
    const settledAt = performance.now()
    const evidence = await collectEvidence(cluster, observations)
    const { receivers } = cluster
    await waitForDeliveries({ ...evidence, receivers })
    const seconds = {
      faults: (settlingAt - startedAt) / 1000,
      settling: (settledAt - settlingAt) / 1000,
      delivering: (performance.now() - settledAt) / 1000,
    }
    const output = cluster.services.map((service) => service.output()).join('\n')
    return {
      problems: [
        ...load.problems,
        ...batches.problems,
        ...verifyRuns(evidence),
        ...(await verifyRetries({
          observations,
          steps: stepStore(cluster.table),
          log: cluster.log,
          interruptions: evidence.kills + evidence.outages,
        })),
        ...verifyBatches(batchObservations, evidence.records),
        ...verifyDeliveries({ ...evidence, receivers, output }),
        ...clusterProblems(cluster),
        ...(await findRemains(cluster, observations, batchObservations)),
      ],
      figures: [
        ...figuresOf(cluster, evidence, { clientErrors: load.errors, hangUps, seconds }),
        ['lines of batches that ended', batches.progress()],
      ],
    }
  } finally {
    clearInterval(progress)
    await cluster.stop()
  }
}

/**
 * Kills processes, injects faults and hangs up until all runs are accepted.
 * @returns how many clients hung up, by the moment
 */
async function withFaults(cluster: Cluster, load: RunLoad, options: FaultOptions) {
  const { services, faults, outages, token } = cluster
  const { seed, limitMs, killEveryMs } = options
  for (const { setRate } of Object.values(faults)) setRate(RATE)
  const killer = startKiller(services, {
    seed,
    everyMs: killEveryMs,
    leaseMs: LEASE_SECONDS * 1000,
    progress: load.count,
  })
  const hangUps = startHangUps({
    urls: services.map(({ url }) => url) as [string, ...string[]],
    token,
    random: seededRandom(seed, 'hang-ups'),
    executionId: load.lastExecutionId,
  })
  outages.start()
  try {
    await Promise.race([load.accepted, sleep(limitMs, undefined, { ref: false })])
  } finally {
    await outages.stop()
    await hangUps.stop()
    await killer.stop()
    for (const { setRate } of Object.values(faults)) setRate(0)
    cluster.receivers.recover()
  }
  return hangUps.counts
}

/** Runs of clients that hung up are observed by nobody. */
async function waitForOthers({ clients }: Cluster): Promise<void> {
  const endsAt = performance.now() + SETTLE_MS
  const path = '/v1/agent_executions?status=IN_PROGRESS&limit=1'
  while (performance.now() < endsAt) {
    const response = await clients[0]?.('GET', path).catch(() => null)
    if (response?.status === 200 && response.json.length === 0) return
    await sleep(CHECK_MS)
  }
}

/** Batches whose deletion was accepted are deleted by messages. */
async function waitForDeletions(
  { table, organizationId }: Cluster,
  batches: BatchObservation[],
): Promise<void> {
  const endsAt = performance.now() + SETTLE_MS
  const store = batchStore(table)
  for (const { id, isDeleted } of batches) {
    if (!isDeleted || id === null) continue
    while (performance.now() < endsAt && (await store.getHidden({ organizationId, id })))
      await sleep(CHECK_MS)
  }
}

/** Waits for as long as receivers get what they have missed, whose next attempts are minutes away by now. */
async function waitForDeliveries(evidence: Parameters<typeof missingDeliveries>[0]): Promise<void> {
  let missing = Number.POSITIVE_INFINITY
  let endsAt = 0
  for (;;) {
    const { length } = missingDeliveries(evidence)
    if (length === 0) return
    if (length < missing) endsAt = performance.now() + 1.5 * SETTLE_MS
    missing = length
    if (performance.now() > endsAt) return
    await sleep(CHECK_MS)
  }
}

/** Waits for as long as runs are accepted or become final, however many are left and however slow the machine. */
async function settle(load: RunLoad, batches: BatchLoad): Promise<[Observation[], BatchObservation[]]> {
  let seen = -1
  let limit: NodeJS.Timeout | undefined
  const abort = () => {
    load.abort()
    batches.abort()
  }
  const check = setInterval(() => {
    const progress = load.count() + batches.progress()
    if (progress === seen) return
    seen = progress
    clearTimeout(limit)
    limit = setTimeout(abort, SETTLE_MS)
  }, CHECK_MS)
  try {
    return await Promise.all([load.done, batches.done])
  } finally {
    clearInterval(check)
    clearTimeout(limit)
  }
}

async function collectEvidence(cluster: Cluster, observations: Observation[]): Promise<Evidence> {
  const { table, organizationId, models, outages } = cluster
  const executions = executionStore(table)
  const records = await listAll(cluster.clients[0] as ApiClient)
  const children = records.filter(({ input }) => isChild(String(input.marker)))
  const stored: Evidence['stored'] = new Map()
  for (const id of [...observations.map(({ executionId }) => executionId), ...children.map(({ id }) => id)]) {
    const execution = id === null ? null : await executions.get({ organizationId, id })
    if (execution) stored.set(execution.id, execution)
  }
  const { modelRequests, toolCalls, tokens } = models
  const counts = { kills: cluster.kills().all, outages: outages.count() }
  return { observations, records, stored, modelRequests, tokens, toolCalls, ...counts }
}

/** Every execution of the organization, from the paginated API of one service. */
export async function listAll(call: ApiClient): Promise<ExecutionRecord[]> {
  const records: ExecutionRecord[] = []
  let path: string | undefined = '/v1/agent_executions?limit=100'
  while (path) {
    const response: ApiResponse = await call('GET', path)
    if (response.status !== 200) throw new Error(`Listing the executions failed: ${response.text}`)
    records.push(...response.json)
    path = getNextLink(response)
  }
  return records
}

/** Problems that the parts of the cluster have found, the harness's own included. */
function clusterProblems({ monitor, models, services, proxies }: Cluster): string[] {
  const problems = [...services.flatMap((service) => service.problems), ...monitor.problems]
  try {
    models.assertValidRequests()
  } catch (error) {
    problems.push(String(error))
  }
  for (const [name, { counts }] of Object.entries(proxies)) {
    if (counts.failed > 0) problems.push(`The ${name} emulator did not respond to ${counts.failed} requests.`)
  }
  for (const operation of ['SendMessage', 'ReceiveMessage']) {
    if (!proxies.sqs.counts.operations[operation]) problems.push(`No ${operation} went through the proxy.`)
  }
  return problems
}
