import { readFileSync } from 'node:fs'
import { executionKey } from '../../lib/dynamodb/keys.ts'
import { INDEXES } from '../../lib/dynamodb/schema.ts'
import { type DeployedService, startDeployedService } from '../../test/infra/bundling/deployed-service.ts'
import { type Meter, type Spent, startMeter } from '../../test/support/meter.ts'
import { fillCache, type Phase, runKinds } from './run-kinds.ts'
import type { FunctionUse, Measured, RunUse } from './usage.ts'

/** Enough that the ticks in which Linux counts processor time do not matter. */
const RUNS = 300
const WARM_UP = 100
const TICK_MS = 10
/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html: of each item and index entry. */
const OVERHEAD_BYTES = 100

/** Runs the bundles that would be deployed, and counts what a run of each kind needs. @throws when one fails */
export async function measureRuns(
  say: (line: string) => void,
  { runs, warmUp } = { runs: RUNS, warmUp: WARM_UP },
): Promise<Measured> {
  const meters: Meter[] = []
  const service = await startDeployedService({
    keepsAuthorization: true,
    between: async (target) => {
      const meter = await startMeter({ target })
      meters.push(meter)
      return meter
    },
  })
  try {
    const [meter] = meters as [Meter]
    await fillCache(service)
    const uses: RunUse[] = []
    for (const [kind, phases] of Object.entries(runKinds(service))) {
      say(`${kind}: ${runs} runs`)
      uses.push(await useOf(kind as RunUse['kind'], phases, { service, meter, runs, warmUp }))
    }
    return { date: new Date().toISOString().slice(0, 10), node: process.version, runs, uses }
  } finally {
    await service.stop()
  }
}

type Bench = { service: DeployedService; meter: Meter; runs: number; warmUp: number }

async function useOf(kind: RunUse['kind'], phases: Phase[], bench: Bench): Promise<RunUse> {
  const { service, meter, runs, warmUp } = bench
  for (let i = 0; i < warmUp; i++) await walk(phases, () => {})
  const states = () => Promise.all(phases.map(({ name }) => stateOf(service, name)))
  const spent = phases.map((): Spent[] => [])
  meter.take()
  const before = await states()
  let id = ''
  for (let i = 0; i < runs; i++) id = await walk(phases, (index) => spent[index]?.push(meter.take()))
  const after = await states()
  const functions = phases.map(({ name, queueRequests }, index): FunctionUse => {
    const [from, to] = [before[index] ?? NO_STATE, after[index] ?? NO_STATE]
    return {
      name,
      queueRequests,
      ...average(spent[index] ?? []),
      cpuMs: rounded((to.cpuMs - from.cpuMs) / runs),
      logBytes: Math.round((to.logBytes - from.logBytes) / runs),
    }
  })
  return { kind, functions, storedBytes: await storedBytesOf(service, id) }
}

async function walk(phases: Phase[], onEnd: (index: number) => void): Promise<string> {
  let text = ''
  for (const [index, { run }] of phases.entries()) {
    text = await run(text)
    onEnd(index)
  }
  return text
}

function average(all: Spent[]): Pick<FunctionUse, 'requests' | 'readUnits' | 'writeUnits'> {
  const mean = (of: (spent: Spent) => number) =>
    rounded(all.reduce((sum, one) => sum + of(one), 0) / all.length)
  const operations = [...new Set(all.flatMap(({ requests }) => Object.keys(requests)))].sort()
  return {
    requests: Object.fromEntries(
      operations.map((operation) => [operation, mean(({ requests }) => requests[operation] ?? 0)]),
    ),
    readUnits: mean(({ readUnits }) => readUnits),
    writeUnits: mean(({ writeUnits }) => writeUnits),
  }
}

const NO_STATE = { cpuMs: 0, logBytes: 0 }

/** Fields 14 and 15 of proc_pid_stat(5): time in user and in kernel mode. The name before them may hold anything. */
async function stateOf({ processOf }: DeployedService, name: FunctionUse['name']) {
  const { pid, output } = await processOf(name)
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return { cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS, logBytes: output().length }
}

async function storedBytesOf({ table }: DeployedService, id: string): Promise<number> {
  const { items } = await table.query({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': executionKey(id).pk },
  })
  const sizeOf = (value: unknown) => JSON.stringify(value).length + OVERHEAD_BYTES
  return items.reduce((sum, item) => {
    const entries = Object.values(INDEXES).flatMap(({ partitionKey, sortKey, projection }) => {
      const names = ['pk', 'sk', partitionKey.name, sortKey.name, ...projection]
      const isIn = item[partitionKey.name] !== undefined && item[sortKey.name] !== undefined
      return isIn ? [sizeOf(names.map((name) => [name, item[name]]))] : []
    })
    return [sizeOf(item), ...entries].reduce((total, bytes) => total + bytes, sum)
  }, 0)
}

const rounded = (value: number) => Number(value.toFixed(3))
