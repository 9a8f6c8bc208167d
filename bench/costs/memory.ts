/**
 * Prints how functions answer with the processor time that Lambda gives to a memory size, cold and warm, and the most
 * memory that they hold: `npm run costs:memory`. It needs Linux with cgroups v1 and the right to make one.
 */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import type { FunctionName } from '../../infra/functions/function-settings.ts'
import { startDeployedService } from '../../test/infra/bundling/deployed-service.ts'
import { startMeter } from '../../test/support/meter.ts'
import { ASSUMPTIONS } from './compute.ts'
import { type Phase, runKinds } from './run-kinds.ts'

const SIZES_MB = [256, 512, 1024, 1769]
const WARM_RUNS = 60
const COLD_STARTS = 2
const GROUP = '/sys/fs/cgroup/cpu/agent-execution-service'
const ROOT = '/sys/fs/cgroup/cpu'
const PERIOD_US = 20_000

const join = (group: string) => writeFileSync(`${group}/cgroup.procs`, String(process.pid))
const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** Processes started within share this part of a core, for good; the one that measures leaves it again. */
async function confined<T>(memoryMb: number, start: () => Promise<T>): Promise<T> {
  const share = memoryMb / ASSUMPTIONS.megabytesOfACore
  writeFileSync(`${GROUP}/cpu.cfs_period_us`, String(PERIOD_US))
  writeFileSync(`${GROUP}/cpu.cfs_quota_us`, share >= 1 ? '-1' : String(Math.round(PERIOD_US * share)))
  join(GROUP)
  try {
    return await start()
  } finally {
    join(ROOT)
  }
}

/** Times of the function of the kind's last phase, in a fresh process. */
async function measure(kind: 'sync' | 'async', index: number, memoryMb: number) {
  const service = await startDeployedService({
    keepsAuthorization: true,
    between: (target) => startMeter({ target, delayMs: ASSUMPTIONS.roundTripMs }),
  })
  try {
    const phases = runKinds(service)[kind]
    const phase = phases[index] as Phase
    const walk = async (): Promise<number> => {
      let text = ''
      let took = 0
      for (const [at, { run }] of phases.entries()) {
        const startedAt = performance.now()
        text = await run(text)
        if (at === index) took = performance.now() - startedAt
      }
      return took
    }
    // Warms the gateway and the authorizer, in another function.
    await fetch(`${service.url}/v1/agents`, { headers: { Authorization: `Bearer ${service.token}` } })
    const startedAt = performance.now()
    const { pid } = await confined(memoryMb, () => service.processOf(phase.name))
    const spawned = performance.now() - startedAt
    const cold = spawned + (await walk())
    const warm: number[] = []
    for (let i = 0; i < WARM_RUNS; i++) warm.push(await walk())
    const rssMb = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
    return { cold, warm: median(warm.slice(10)), rssMb }
  } finally {
    await service.stop()
  }
}

mkdirSync(GROUP, { recursive: true })
const rows: Record<string, string | number>[] = []
try {
  const functions: [FunctionName, 'sync' | 'async', number][] = [
    ['get-execution', 'async', 2],
    ['run-agent', 'sync', 0],
    ['process-execution', 'async', 1],
  ]
  for (const [name, kind, index] of functions) {
    for (const memoryMb of SIZES_MB) {
      console.error(`${name} with ${memoryMb} MB`)
      const all = []
      for (let i = 0; i < COLD_STARTS; i++) all.push(await measure(kind, index, memoryMb))
      rows.push({
        function: name,
        MB: memoryMb,
        'cold ms': Math.round(median(all.map(({ cold }) => cold))),
        'warm ms': Number(median(all.map(({ warm }) => warm)).toFixed(1)),
        'most MB held': Math.round(Math.max(...all.map(({ rssMb }) => rssMb))),
      })
    }
  }
} finally {
  rmdirSync(GROUP)
}
console.table(rows)
