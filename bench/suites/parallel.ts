import { readFileSync } from 'node:fs'
import { processTree } from '../harness/process-tree.ts'
import { generateLoad, interleave, type Operation, percentile, toRatio, toSpread } from '../harness/rounds.ts'
import { floorRun, noOpRuns, startWithFloor } from '../harness/runs.ts'
import { type SuiteContext, type SuiteResult, spreadRows } from '../report.ts'

const FULL = { rounds: 9, durationMs: 2_000, warmUpMs: 4_000 }
const QUICK = { rounds: 3, durationMs: 1_000, warmUpMs: 1_000 }
const SAMPLE_MS = 200

type Measure = { p99: number; cpuMs: number; memoryMiB: number }

/** Many no-op runs at once: processor time of one at 16 in flight, latency and memory at 64. */
export async function parallel({ workspace, quick, log }: SuiteContext): Promise<SuiteResult> {
  const { rounds, durationMs, warmUpMs } = quick ? QUICK : FULL
  const { service, floor } = await startWithFloor(workspace)
  const { sync, async } = noOpRuns(service)
  const contenders = [
    { name: 'floor' as const, pid: floor.pid, operation: floorRun(floor.url) },
    { name: 'sync' as const, pid: service.pid, operation: sync },
    { name: 'async' as const, pid: service.pid, operation: async },
  ]
  const measure = (concurrency: number) =>
    interleave(
      contenders.map(({ name, pid, operation }) => ({
        name,
        measure: () => measureLoad(pid, concurrency, durationMs, operation),
      })),
      rounds,
    )
  log('warm-up')
  for (const { operation } of contenders)
    await generateLoad({ concurrency: 16, durationMs: warmUpMs, operation })
  log(`16 in flight, ${rounds} rounds`)
  const at16 = await measure(16)
  log(`64 in flight, ${rounds} rounds`)
  const at64 = await measure(64)
  return {
    figures: {
      parallelTime: toRatio(at16.sync.map(toCpu), at16.floor.map(toCpu)),
      parallelLatency: toRatio(at64.sync.map(toP99), at64.floor.map(toP99)),
      parallelMemory: toSpread([...at64.sync, ...at64.async].map(toMemory)),
    },
    details: {
      title: 'Runs of an agent that does nothing: Node processes of `npm start`, without the database',
      rows: contenders.flatMap(({ name }) =>
        spreadRows({
          [`${name}: processor ms, 16 in flight`]: at16[name].map(toCpu),
          [`${name}: p99 ms, 64 in flight`]: at64[name].map(toP99),
          [`${name}: RSS MiB, 64 in flight`]: at64[name].map(toMemory),
        }),
      ),
    },
  }
}

const toCpu = ({ cpuMs }: Measure) => cpuMs
const toMemory = ({ memoryMiB }: Measure) => memoryMiB
const toP99 = ({ p99 }: Measure) => p99

async function measureLoad(
  pid: number,
  concurrency: number,
  durationMs: number,
  operation: Operation,
): Promise<Measure> {
  let memoryMiB = 0
  const sample = () => {
    const resident = nodeProcesses(pid).reduce((sum, { residentMiB }) => sum + residentMiB, 0)
    memoryMiB = Math.max(memoryMiB, resident)
  }
  const sampling = setInterval(sample, SAMPLE_MS)
  const before = cpuMsOf(pid)
  const { latencies } = await generateLoad({ concurrency, durationMs, operation })
  const cpuMs = (cpuMsOf(pid) - before) / latencies.length
  clearInterval(sampling)
  sample()
  return { p99: percentile(latencies, 0.99), cpuMs, memoryMiB }
}

const nodeProcesses = (pid: number) => processTree(pid).filter(({ command }) => command.startsWith('node'))

const MS_PER_TICK = 10

/** Processor time of the Node processes, in the ticks of proc(5). NaN where there is none. */
function cpuMsOf(root: number): number {
  if (process.platform !== 'linux') return Number.NaN
  return nodeProcesses(root).reduce((sum, { pid }) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return sum + (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
  }, 0)
}
