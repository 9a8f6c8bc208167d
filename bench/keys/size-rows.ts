import type { Row } from '../report.ts'
import { unitsPerRun } from './hot-keys.ts'
import { PAYLOAD_SIZES } from './payloads.ts'
import { findScenario, type Scenario, simulate } from './workload.ts'

/** Runs of agents in use, without a tenant. Each costs the same. */
const SCENARIOS: Scenario[] = [
  findScenario('hot agent', 'sync'),
  findScenario('hot agent', 'async'),
  findScenario('even', 'model'),
  findScenario('hot cached result', 'cached'),
].map((scenario) => ({ ...scenario, tenants: null }))

/** Fewer than a second of runs, in which a process reads an agent once. */
const RUNS = 160

/** Units of one run of each kind, by the size of its input and of its output. */
export async function sizeRows({ seed }: { seed: number }): Promise<Row[]> {
  const rows: Row[] = []
  for (const scenario of SCENARIOS) {
    let smallest: Units | undefined
    for (const payloadBytes of PAYLOAD_SIZES) {
      const units = await unitsOf(scenario, { runs: RUNS, seed, payloadBytes })
      smallest ??= units
      rows.push({
        run: scenario.kind,
        bytes: payloadBytes.toLocaleString('en-US'),
        table: units.table,
        written: units.written,
        read: Number(units.read.toFixed(2)),
        'table, multiple': (units.table / smallest.table).toFixed(2),
        'written, multiple': (units.written / smallest.written).toFixed(2),
      })
    }
  }
  return rows
}

type Units = { table: number; written: number; read: number }

async function unitsOf(scenario: Scenario, options: Parameters<typeof simulate>[1]): Promise<Units> {
  const units = unitsPerRun(await simulate(scenario, options))
  const all = [...units.values()]
  return {
    table: units.get('table')?.writes ?? 0,
    written: all.reduce((sum, { writes }) => sum + writes, 0),
    read: all.reduce((sum, { reads }) => sum + reads, 0),
  }
}
