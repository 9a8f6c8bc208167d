import { short, withSpread } from '../format.ts'
import type { Context, Finding, Part } from '../part.ts'
import { takeTurns } from '../rounds.ts'
import { type RunKinds, runKinds } from '../run-kinds.ts'
import { startService } from '../service.ts'
import { median, percentile, ratioOf, spreadOf } from '../statistics.ts'

const FULL = { rounds: 9, runs: 60, warmUp: 300 }
const QUICK = { rounds: 3, runs: 20, warmUp: 100 }
/** Milliseconds of one run: until it was accepted, and from then until its result was read. */
type Times = { accepted: number; readable: number }

/** How long after it was accepted an asynchronous run can be read, by two ways to wait, one run at a time. */
export const readable: Part = { letter: 'b', title: 'from accepted to readable', run }

async function run({ workplace, quick, say }: Context): Promise<Finding> {
  const { rounds, runs, warmUp } = quick ? QUICK : FULL
  const kinds = runKinds(await startService(workplace))
  const ways = {
    sync: () => timeSync(kinds),
    'Prefer: wait': () => timeAsync(kinds, kinds.readWaiting),
    'tight GETs': () => timeAsync(kinds, kinds.readTightly),
  }
  say('warming up')
  for (const way of [ways.sync, ways['tight GETs']]) await many(warmUp, way)
  say(`${rounds} rounds`)
  const names = Object.keys(ways) as (keyof typeof ways)[]
  const times = await takeTurns(
    names.map((name) => ({ name, turn: () => many(runs, ways[name]) })),
    rounds,
  )
  const p50s = (name: keyof typeof ways, of: keyof Times) =>
    times[name].map((turn) => median(turn.map((run) => run[of])))
  const sync = p50s('sync', 'readable')
  const rows = names.map((name) => {
    const all = times[name].flat()
    const waits = all.map((run) => run.readable)
    const ratio = ratioOf(p50s(name, 'readable'), sync)
    return {
      run: name,
      'accepted, p50 ms': name === 'sync' ? '' : short(median(all.map(({ accepted }) => accepted))),
      'readable, p50 ms': short(median(waits)),
      'p99 ms': short(percentile(waits, 0.99)),
      'p50 / sync': withSpread(ratio),
      runs: all.length,
    }
  })
  const figures = {
    'sync p50 ms': spreadOf(sync),
    'readable by wait / sync': ratioOf(p50s('Prefer: wait', 'readable'), sync),
    'readable by tight GETs / sync': ratioOf(p50s('tight GETs', 'readable'), sync),
  }
  return {
    tables: [{ title: 'An asynchronous no-op run, 1 in flight; readable counts from accepted', rows }],
    figures,
  }
}

async function many(count: number, run: () => Promise<Times>): Promise<Times[]> {
  const times: Times[] = []
  for (let i = 0; i < count; i++) times.push(await run())
  return times
}

async function timeSync({ sync }: RunKinds): Promise<Times> {
  const startedAt = performance.now()
  await sync()
  return { accepted: 0, readable: performance.now() - startedAt }
}

async function timeAsync({ accept }: RunKinds, read: (id: string) => Promise<void>): Promise<Times> {
  const startedAt = performance.now()
  const id = await accept()
  const acceptedAt = performance.now()
  await read(id)
  return { accepted: acceptedAt - startedAt, readable: performance.now() - acceptedAt }
}
