import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { processorMs, processTree } from '../harness/process-tree.ts'
import {
  generateLoad,
  interleave,
  type Load,
  percentile,
  timed,
  toRatio,
  toSpread,
} from '../harness/rounds.ts'
import { type Contender, startFloor, startNoOps } from '../harness/runs.ts'
import { type SuiteContext, type SuiteResult, spreadRows } from '../report.ts'

const ROUNDS = { full: 7, quick: 3 }
const IN_FLIGHT = { few: 1, many: 16, most: 64 }
const SAMPLE_MS = 200
const POLL_MS = 25
const MAX_WAIT_MS = 60_000
/** So that no round measures code that V8 has not compiled yet. */
const WARM_UP_ROUNDS = 3

type Measure = Load & { cpuMs: number; memoryMiB: number }

/** Runs of an agent that returns its input: `npm start` as it is, beside the floor, each with its own database. */
export async function service({ workspace, quick, seconds, log }: SuiteContext): Promise<SuiteResult> {
  const rounds = ROUNDS[quick ? 'quick' : 'full']
  const floor = await startFloor(workspace)
  const own = await startNoOps(workspace)
  const contenders = { floor, service: own }
  const names = ['floor', 'service'] as const
  const durationMs = seconds * 1_000

  const alternate = <T>(count: number, measure: (contender: Contender) => Promise<T>) =>
    interleave(
      names.map((name) => ({ name, measure: () => measure(contenders[name]) })),
      count,
    )
  const load = (concurrency: number) => (contender: Contender) =>
    measureLoad(contender, { concurrency, durationMs })

  log('warm-up')
  await alternate(WARM_UP_ROUNDS, load(IN_FLIGHT.many))
  await alternate(1, (contender) => measureAsync(contender, durationMs))
  await own.fillCache()
  log(`${IN_FLIGHT.few} in flight, ${rounds} rounds`)
  const runs = { floor: floor.run, service: own.run, cached: own.cached, async: own.async }
  const single = await interleave(
    (['floor', 'service', 'cached', 'async'] as const).map((name) => ({
      name,
      measure: () =>
        generateLoad({ concurrency: IN_FLIGHT.few, durationMs: durationMs / 2, operation: runs[name] }),
    })),
    rounds,
  )
  log(`${IN_FLIGHT.many} in flight, ${rounds} rounds`)
  const bytesBefore = { floor: databaseBytes(floor.folder), service: databaseBytes(own.folder) }
  const many = await alternate(rounds, load(IN_FLIGHT.many))
  const bytesPerRun = (name: 'floor' | 'service') =>
    (databaseBytes(contenders[name].folder) - bytesBefore[name]) /
    many[name].reduce((sum, { latencies }) => sum + latencies.length, 0)
  const bytes = { floor: bytesPerRun('floor'), service: bytesPerRun('service') }
  log(`asynchronous, ${rounds} rounds`)
  const finished = await alternate(rounds, (contender) => measureAsync(contender, durationMs))
  log(`${IN_FLIGHT.most} in flight, ${rounds} rounds`)
  const most = await alternate(rounds, load(IN_FLIGHT.most))

  const p50 = (name: keyof typeof single) => single[name].map((each) => each.p50)
  const rate = (name: 'floor' | 'service') => many[name].map(({ perSecond }) => perSecond)
  const cpu = (name: 'floor' | 'service') => many[name].map(({ cpuMs }) => cpuMs)
  const p99 = (name: 'floor' | 'service') => most[name].map(({ latencies }) => percentile(latencies, 0.99))
  const memory = (name: 'floor' | 'service') => most[name].map(({ memoryMiB }) => memoryMiB)
  return {
    figures: {
      syncLatency: toRatio(p50('service'), p50('floor')),
      syncThroughput: toRatio(rate('service'), rate('floor')),
      processorTime: toRatio(cpu('service'), cpu('floor')),
      asyncThroughput: toRatio(finished.service, finished.floor),
      asyncLatency: toRatio(p50('async'), p50('service')),
      cachedLatency: toRatio(p50('cached'), p50('service')),
      diskBytes: toRatio([bytes.service], [bytes.floor]),
      parallelLatency: toRatio(p99('service'), p99('floor')),
      parallelMemory: toSpread(memory('service')),
    },
    details: {
      title: 'Runs of an agent that returns its input; all processes of `npm start`, and of the floor',
      rows: names.flatMap((name) =>
        spreadRows({
          [`${name}: p50 ms, 1 in flight`]: p50(name),
          [`${name}: runs/s, 16 in flight`]: rate(name),
          [`${name}: processor ms a run, 16 in flight`]: cpu(name),
          [`${name}: asynchronous runs finished and readable/s`]: finished[name],
          [`${name}: bytes on disk a run`]: [bytes[name]],
          [`${name}: p99 ms, 64 in flight`]: p99(name),
          [`${name}: RSS MiB, 64 in flight`]: memory(name),
        }),
      ),
    },
  }
}

async function measureLoad(
  { pid, run }: Contender,
  { concurrency, durationMs }: { concurrency: number; durationMs: number },
): Promise<Measure> {
  let memoryMiB = 0
  const sample = () => {
    const resident = nodeProcesses(pid).reduce((sum, { residentMiB }) => sum + residentMiB, 0)
    memoryMiB = Math.max(memoryMiB, resident)
  }
  // Listing processes takes processor time of the cores that are measured.
  const sampling = concurrency === IN_FLIGHT.most ? setInterval(sample, SAMPLE_MS) : undefined
  const before = processorMs(pid)
  const load = await generateLoad({ concurrency, durationMs, operation: run })
  const cpuMs = (processorMs(pid) - before) / load.latencies.length
  clearInterval(sampling)
  sample()
  return { ...load, cpuMs, memoryMiB }
}

/** The processes with the service's code, without the database and npm. */
const nodeProcesses = (pid: number) => processTree(pid).filter(({ command }) => command.startsWith('node'))

/** The database of dynoxide, with what it has not moved into its file yet. */
const databaseBytes = (folder: string): number =>
  readdirSync(folder)
    .filter((name) => name.startsWith('dynoxide.sqlite'))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)

/** Accepts runs, and waits until all are finished and readable: per second, up to the last end. */
async function measureAsync({ accept, readEnd }: Contender, durationMs: number): Promise<number> {
  const ids: string[] = []
  const startedAt = Date.now()
  const operation = timed(async () => ids.push(await accept()))
  await generateLoad({ concurrency: IN_FLIGHT.many, durationMs: durationMs / 2, operation })
  let lastEnd = 0
  // The newest first: when it has finished, hardly any other has to be waited for.
  for (const id of ids.reverse()) lastEnd = Math.max(lastEnd, Date.parse(await waitForEnd(id, readEnd)))
  return ids.length / ((lastEnd - startedAt) / 1000)
}

async function waitForEnd(id: string, readEnd: Contender['readEnd']): Promise<string> {
  for (const limit = performance.now() + MAX_WAIT_MS; performance.now() < limit; await sleep(POLL_MS)) {
    const end = await readEnd(id)
    if (end) return end
  }
  throw new Error(`The run ${id} did not finish within ${MAX_WAIT_MS} ms.`)
}
