import { setTimeout as sleep } from 'node:timers/promises'
import type { ExecutionRecord } from '../../../lib/api/schemas/execution-record.ts'
import { batchStore } from '../../../lib/dynamodb/batch-store.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { seededRandom } from '../../support/data/random.ts'
import { type ApiClient, type ApiResponse, getNextLink } from '../../support/service/client.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { type BatchLoad, type BatchObservation, planBatches, startBatches } from './load/batch-load.ts'
import { startHangUps } from './load/hang-ups.ts'
import { isChild } from './load/model-runs.ts'
import type { Observation } from './load/run-client.ts'
import { type RunLoad, startLoad } from './load/start-load.ts'
import { planRuns } from './load/workload.ts'
import { watchGateways } from './processes/gateway-watch.ts'
import { startKiller } from './processes/killer.ts'
import { batchProblems, INVALID_MESSAGE } from './processes/queue-settings.ts'
import { figuresOf, type Report } from './report.ts'
import { findRemains } from './verify/find-remains.ts'
import { verifyBatches } from './verify/verify-batches.ts'
import { missingDeliveries, verifyDeliveries } from './verify/verify-deliveries.ts'
import { type Evidence, verifyRuns } from './verify/verify-runs.ts'

export type FaultOptions = {
  seed: number
  asyncRuns: number
  syncRuns: number
  /** Average time between two kills. */
  killEveryMs: number
  /** Share of the requests to the emulators that get a fault. */
  rate: number
  leaseSeconds: number
  /** After kills and faults: how long no run may become final before the remaining ones count as hanging. */
  settleMs: number
  /** Maximum time with kills and faults. */
  limitMs: number
  onProgress?: (line: string) => void
  /** Stops everything early. */
  signal?: AbortSignal
}

const PROGRESS_MS = 5_000
/** Between two messages that cannot be processed. */
const MESSAGE_MS = 700
const CHECK_MS = 500
/** Of each batch, for an asynchronous run. */
const LINES_PER_RUN = 1 / 4
const MIN_LINES = 20

/** Default of `settleMs`. */
export const settleMsFor = (leaseSeconds: number) => (10 * leaseSeconds + 15) * 1000

/**
 * Requests runs from two services while their processes are killed and their requests get faults, waits until the runs
 * have settled, and verifies them. The seed determines the schedule (which fault the nth request of a proxy gets, when
 * which process is killed, the order of the runs), but not the timing of the operating system.
 */
export async function runFaults(options: FaultOptions): Promise<Report> {
  const startedAt = performance.now()
  const cluster = await startCluster(options)
  const runs = planRuns({ ...options, log: cluster.log })
  cluster.targeted.plan(runs)
  const watch = watchGateways(cluster.services)
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
    const [observations, batchObservations] = await settle(load, batches, options.settleMs)
    await watch.stop()
    await Promise.all(cluster.services.map((service) => service.ready()))
    await waitForOthers(cluster, options.settleMs)
    await waitForDeletions(cluster, batchObservations, options.settleMs)
    const settledAt = performance.now()
    const evidence = await collectEvidence(cluster, observations)
    const { receivers } = cluster
    await waitForDeliveries({ ...evidence, receivers }, options.settleMs)
    const seconds = {
      faults: (settlingAt - startedAt) / 1000,
      settling: (settledAt - settlingAt) / 1000,
      delivering: (performance.now() - settledAt) / 1000,
    }
    const output = cluster.services.map((service) => service.output()).join('\n')
    return {
      problems: [
        ...watch.problems,
        ...load.problems,
        ...batches.problems,
        ...verifyRuns(evidence),
        ...verifyBatches(batchObservations, evidence.records),
        ...verifyDeliveries({ ...evidence, receivers, output }),
        ...(await clusterProblems(cluster)),
        ...(await findRemains(cluster, observations, batchObservations)),
      ],
      figures: [
        ...figuresOf(cluster, evidence, { clientErrors: load.errors, hangUps, seconds }),
        ['lines of batches that ended', batches.progress()],
        ...Object.entries(batches.errors).map(([error, count]): [string, number] => [
          `client errors of batches: ${error}`,
          count,
        ]),
        ['batches deleted', batchObservations.filter(({ isDeleted }) => isDeleted).length],
      ],
    }
  } finally {
    clearInterval(progress)
    await watch.stop()
    await cluster.stop()
  }
}

/**
 * Kills processes, injects faults, sends invalid messages and hangs up until all runs are accepted.
 * @returns how many clients hung up, by the moment
 */
async function withFaults(cluster: Cluster, load: RunLoad, options: FaultOptions) {
  const { services, runners, faults, outages, token } = cluster
  const { seed, rate, limitMs, killEveryMs, leaseSeconds } = options
  for (const { setRate } of Object.values(faults)) setRate(rate)
  const killer = startKiller(services, runners, {
    seed,
    everyMs: killEveryMs,
    leaseMs: leaseSeconds * 1000,
    progress: load.count,
  })
  const hangUps = startHangUps({
    urls: services.map(({ url }) => url) as [string, ...string[]],
    token,
    random: seededRandom(seed, 'hang-ups'),
    executionId: load.lastExecutionId,
  })
  const messages = setInterval(() => void cluster.sendMessage(INVALID_MESSAGE), MESSAGE_MS)
  outages.start()
  try {
    await Promise.race([load.accepted, sleep(limitMs, undefined, { ref: false })])
  } finally {
    clearInterval(messages)
    await outages.stop()
    await hangUps.stop()
    await killer.stop()
    for (const { setRate } of Object.values(faults)) setRate(0)
    cluster.receivers.recover()
  }
  return hangUps.counts
}

/** Runs of clients that hung up are observed by nobody. */
async function waitForOthers({ clients }: Cluster, limitMs: number): Promise<void> {
  const endsAt = performance.now() + limitMs
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
  limitMs: number,
): Promise<void> {
  const endsAt = performance.now() + limitMs
  const store = batchStore(table)
  for (const { id, isDeleted } of batches) {
    if (!isDeleted || id === null) continue
    while (performance.now() < endsAt && (await store.getHidden({ organizationId, id })))
      await sleep(CHECK_MS)
  }
}

/** Waits for as long as receivers get what they have missed, whose next attempts are minutes away by now. */
async function waitForDeliveries(
  evidence: Parameters<typeof missingDeliveries>[0],
  settleMs: number,
): Promise<void> {
  let missing = Number.POSITIVE_INFINITY
  let endsAt = 0
  for (;;) {
    const { length } = missingDeliveries(evidence)
    if (length === 0) return
    if (length < missing) endsAt = performance.now() + 4 * settleMs
    missing = length
    if (performance.now() > endsAt) return
    await sleep(CHECK_MS)
  }
}

/** Waits for as long as runs keep becoming final, however many are left and however slow the machine. */
async function settle(
  load: RunLoad,
  batches: BatchLoad,
  settleMs: number,
): Promise<[Observation[], BatchObservation[]]> {
  let seen = -1
  let limit: NodeJS.Timeout | undefined
  const abort = () => {
    load.abort()
    batches.abort()
  }
  const check = setInterval(() => {
    const ended = load.finals() + batches.progress()
    if (ended === seen) return
    seen = ended
    clearTimeout(limit)
    limit = setTimeout(abort, settleMs)
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
async function clusterProblems({
  monitor,
  endpoint,
  models,
  services,
  runners,
  proxies,
}: Cluster): Promise<string[]> {
  await monitor.compareWithTable(endpoint, LOCAL_TABLE)
  const problems = [
    ...services.flatMap((service) => service.problems),
    ...monitor.problems,
    ...batchProblems(runners.flatMap(({ batches }) => batches)),
  ]
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
