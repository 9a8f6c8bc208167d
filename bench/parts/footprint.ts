import { setTimeout as sleep } from 'node:timers/promises'
import { short, withSpread } from '../format.ts'
import { load } from '../load.ts'
import type { Context, Finding, Part } from '../part.ts'
import { processTree, residentMiB } from '../process-tree.ts'
import { runKinds } from '../run-kinds.ts'
import { startService } from '../service.ts'
import { spreadOf } from '../statistics.ts'
import { openWorkplace, type Workplace } from '../workplace.ts'

const FULL = { starts: 7, idleMs: 3_000, forMs: 15_000, runs: 2_000 }
const QUICK = { starts: 3, idleMs: 3_000, forMs: 4_000, runs: 300 }
const IN_FLIGHT = 64
const LOOK_MS = 100

/** How soon `npm start` serves on a store that was used, and what its processes hold in memory: npm's own included. */
export const footprint: Part = { letter: 'g', title: 'start and memory of `npm start`', run }

async function run({ workplace, quick, say }: Context): Promise<Finding> {
  const { starts, idleMs, forMs, runs } = quick ? QUICK : FULL
  const folder = await workplace.folder()
  await useStore(workplace, folder, runs)
  const readyMs: number[] = []
  const idleMiB: number[] = []
  for (let start = 1; start <= starts; start++) {
    say(`start ${start} of ${starts}`)
    const place = openWorkplace()
    workplace.atEnd(place.clear)
    const service = await startService(place, { folder, npm: true })
    readyMs.push(service.readyMs)
    await sleep(idleMs)
    idleMiB.push(residentMiB(service.pid))
    await place.clear()
  }
  say(`${IN_FLIGHT} in flight`)
  const service = await startService(workplace, { folder, npm: true })
  await sleep(idleMs)
  const idle = processTree(service.pid)
  const loadedMiB: number[] = []
  const looking = setInterval(() => loadedMiB.push(residentMiB(service.pid)), LOOK_MS)
  await load({ inFlight: IN_FLIGHT, forMs, run: runKinds(service).sync })
  clearInterval(looking)
  const loaded = new Map(processTree(service.pid).map((process) => [process.pid, process]))
  const rows = idle.map(({ pid, command, residentMiB, proportionalMiB }) => ({
    process: nameOf(command),
    'idle MiB': short(residentMiB),
    'shared pages in parts': short(proportionalMiB),
    [`at ${IN_FLIGHT} in flight MiB`]: short(loaded.get(pid)?.residentMiB ?? 0),
  }))
  const figures = {
    'ready s': spreadOf(readyMs.map((ms) => ms / 1000)),
    'idle MiB': spreadOf(idleMiB),
    'loaded MiB': spreadOf(loadedMiB),
  }
  const sums = Object.entries(figures).map(([measure, spread]) => ({
    measure,
    'median (spread)': withSpread(spread),
  }))
  return {
    tables: [
      { title: `\`npm start\` on a store with ${runs} runs, ${starts} starts`, rows: sums },
      { title: 'Its processes, resident memory', rows },
    ],
    figures,
  }
}

async function useStore(workplace: Workplace, folder: string, runs: number): Promise<void> {
  const place = openWorkplace()
  workplace.atEnd(place.clear)
  try {
    const { sync } = runKinds(await startService(place, { folder }))
    for (let i = 0; i < runs; i++) await sync()
  } finally {
    await place.clear()
  }
}

/** The script or program that a command line runs, without the folders in which it lies. */
function nameOf(command: string): string {
  const words = command.split(' ').filter((word) => !word.startsWith('-'))
  const script =
    words.find((word) => /\.[mc]?[jt]s$/.test(word)) ?? words.find((word) => word.endsWith('dynoxide'))
  return (words[0]?.endsWith('sh') ? 'sh' : (script ?? words[0] ?? '')).split('/').at(-1) ?? ''
}
