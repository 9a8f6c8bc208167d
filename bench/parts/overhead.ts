import { startFloors } from '../floor/start-floors.ts'
import { short, withSpread } from '../format.ts'
import { type Load, load } from '../load.ts'
import type { Context, Finding, Part, Row } from '../part.ts'
import { takeTurns } from '../rounds.ts'
import { runKinds } from '../run-kinds.ts'
import { startService } from '../service.ts'
import { percentile, ratioOf, type Spread, spreadOf } from '../statistics.ts'

const IN_FLIGHT = [1, 16, 64]
const FULL = { rounds: 7, forMs: 1_500, warmUpMs: 5_000 }
const QUICK = { rounds: 3, forMs: 400, warmUpMs: 1_000 }
const NAMES = ['sync', 'async', 'cached', 'floor', 'indexedFloor', 'recordFloor'] as const
type Name = (typeof NAMES)[number]

/** What a run of an agent that does nothing costs, beside servers that do the same reads and writes and nothing else. */
export const overhead: Part = { letter: 'a', title: 'overhead of a run', run }

async function run({ workplace, quick, say }: Context): Promise<Finding> {
  const { rounds, forMs, warmUpMs } = quick ? QUICK : FULL
  const service = await startService(workplace)
  const { sync, fillCache, cached, accept, readWaiting } = runKinds(service)
  const runs: Record<Name, () => Promise<void>> = {
    sync,
    cached,
    async: async () => readWaiting(await accept()),
    ...(await startFloors(workplace, service)),
  }
  await fillCache()
  say('warming up')
  for (const name of NAMES) await load({ inFlight: 16, forMs: warmUpMs, run: runs[name] })

  const rows: Row[] = []
  const figures: Record<string, Spread> = {}
  for (const inFlight of IN_FLIGHT) {
    say(`${inFlight} in flight, ${rounds} rounds`)
    const turns = NAMES.map((name) => ({ name, turn: () => load({ inFlight, forMs, run: runs[name] }) }))
    const loads = await takeTurns(turns, rounds)
    for (const name of NAMES) {
      const compared = compare(loads[name], loads.floor, loads.recordFloor)
      rows.push(rowOf(name, inFlight, loads[name], compared))
      for (const [figure, spread] of Object.entries(compared))
        figures[`${name} ${figure} at ${inFlight}`] = spread
    }
    figures[`cached p50 / sync at ${inFlight}`] = ratioOf(p50s(loads.cached), p50s(loads.sync))
  }
  return { tables: [{ title: 'A no-op run, sent to result', rows }], figures }
}

const p50s = (loads: Load[]) => loads.map(({ p50 }) => p50)
const rates = (loads: Load[]) => loads.map(({ perSecond }) => perSecond)

function compare(loads: Load[], floor: Load[], recordFloor: Load[]) {
  return {
    'p50 ms': spreadOf(p50s(loads)),
    'runs/s': spreadOf(rates(loads)),
    'p50 / floor': ratioOf(p50s(loads), p50s(floor)),
    'runs/s / floor': ratioOf(rates(loads), rates(floor)),
    'runs/s / record floor': ratioOf(rates(loads), rates(recordFloor)),
  }
}

function rowOf(name: Name, inFlight: number, loads: Load[], compared: ReturnType<typeof compare>): Row {
  const samples = loads.flatMap((load) => load.samples)
  return {
    run: name,
    'in flight': inFlight,
    'p50 ms': short(percentile(samples, 0.5)),
    'p99 ms': short(percentile(samples, 0.99)),
    'runs/s': withSpread(compared['runs/s']),
    'p50 / floor': withSpread(compared['p50 / floor']),
    'runs/s / floor': withSpread(compared['runs/s / floor']),
    '/ record floor': withSpread(compared['runs/s / record floor']),
    runs: samples.length,
  }
}
