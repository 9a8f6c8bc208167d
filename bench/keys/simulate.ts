import { type Counted, countingTable } from './counting-table.ts'
import { newId, population, seeded } from './population.ts'
import { runWalker } from './runs.ts'
import type { Scenario } from './scenarios.ts'

export type Simulated = { scenario: Scenario; runs: number; counted: Counted }

/** Any day; a run begins each tenth of a millisecond, as at 10,000 a second. */
const FROM = Date.UTC(2026, 10, 22)
const RUNS_A_MS = 10

/** Runs a scenario's runs, one after the other. The same seed gives the same counts. */
export async function simulate(
  scenario: Scenario,
  { runs, seed }: { runs: number; seed: number },
): Promise<Simulated> {
  const random = seeded(seed)
  const { table, counted } = countingTable()
  const walk = runWalker(table)
  const draw = population(scenario, random)
  const { kind, shared = 0 } = scenario
  const hot = { ...draw(), shared: 'shared' }
  for (let number = 0; number < runs; number++) {
    const now = FROM + Math.floor(number / RUNS_A_MS)
    const id = newId(random, now, number % 256)
    const member = random() < shared ? hot : { ...draw(), shared: `own-${number}` }
    await walk(kind, { ...member, id, now })
  }
  return { scenario, runs, counted: counted() }
}
