import { countingTable, type Usage } from './counting-table.ts'
import { PAYLOAD_SIZES } from './payloads.ts'
import { createId, createRandom, type Random } from './random.ts'
import { type RunKind, runWalker } from './run-walker.ts'

/** How runs are distributed over a group: evenly, by Zipf's law (exponent 1), or with a share on the first member. */
type Skew = 'even' | 'zipf' | number

/** `shared`: the share of runs with the same cache key or idempotency key; the others have one each. */
export type Scenario = {
  name: string
  kind: RunKind
  organizations: Skew
  agents: Skew
  /** Null: runs without a tenant. */
  tenants: Skew | null
  shared?: number
}

const EVEN = { organizations: 'even', agents: 'even', tenants: null } as const
const ZIPF = { organizations: 'zipf', agents: 'zipf', tenants: 'zipf' } as const
const HOT = 0.9

export const SCENARIOS: Scenario[] = [
  { name: 'even', kind: 'sync', ...EVEN },
  { name: 'even', kind: 'async', ...EVEN },
  { name: 'even', kind: 'model', ...EVEN },
  { name: 'even', kind: 'sleeping', ...EVEN },
  { name: 'Zipf', kind: 'sync', ...ZIPF },
  { name: 'Zipf', kind: 'async', ...ZIPF },
  { name: 'hot organization', kind: 'sync', ...ZIPF, organizations: HOT, agents: 'even' },
  { name: 'hot organization', kind: 'async', ...ZIPF, organizations: HOT, agents: 'even' },
  { name: 'hot agent', kind: 'sync', ...ZIPF, organizations: HOT, agents: 1 },
  { name: 'hot agent', kind: 'async', ...ZIPF, organizations: HOT, agents: 1 },
  { name: 'single agent', kind: 'sync', ...ZIPF, organizations: 1, agents: 1 },
  { name: 'hot tenant', kind: 'async', ...ZIPF, organizations: HOT, agents: 'even', tenants: 1 },
  { name: 'hot cached result', kind: 'cached', ...ZIPF, shared: HOT },
  { name: 'hot key, no result yet', kind: 'waiting', ...ZIPF, shared: HOT },
  { name: 'hot idempotency key', kind: 'repeated', ...EVEN, shared: HOT },
]

export function findScenario(name: string, kind: RunKind): Scenario {
  const scenario = SCENARIOS.find((one) => one.name === name && one.kind === kind)
  if (!scenario) throw new Error(`No scenario "${name}" with ${kind} runs.`)
  return scenario
}

const ORGANIZATIONS = 1_000
const AGENTS = 5
const TENANTS = 20
/** Any day. */
const START = Date.UTC(2026, 10, 22)
/**
 * A sample of the processes that accept runs, each with 10 requests per second: at most that many, Lambda sends to one.
 * https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html
 */
const PROCESSES = 20
const INTERVAL_MS = 1000 / (PROCESSES * 10)

export type Simulation = { scenario: Scenario; runs: number; usage: Usage }

/** `payloadBytes`: of the JSON of each input and each output (`payloadOf`); 100 by default. */
type Options = { runs: number; seed: number; payloadBytes?: number }

/** Walks the runs of a scenario through the stores, one after the other. The same seed gives the same counts. */
export async function simulate(
  scenario: Scenario,
  { runs, seed, payloadBytes = PAYLOAD_SIZES[0] }: Options,
): Promise<Simulation> {
  const random = createRandom(seed)
  const { table, unmetered, usage } = countingTable()
  const walk = runWalker({ table, unmetered, payloadBytes })
  const draw = memberDraw(scenario, random)
  const { kind, shared = 0 } = scenario
  const hot = { ...draw(), shared: 'shared' }
  for (let number = 0; number < runs; number++) {
    const now = START + number * INTERVAL_MS
    const process = Math.floor(random() * PROCESSES)
    // The last two bytes decide the shards, which get equally many runs.
    const id = createId(random, now, number)
    const member = random() < shared ? hot : { ...draw(), shared: `own-${number}` }
    await walk(kind, { ...member, id, process, now })
  }
  return { scenario, runs, usage }
}

/** Draws the organization, agent and tenant of the next run. */
function memberDraw({ organizations, agents, tenants }: Scenario, random: Random) {
  const drawOrganization = indexDraw(organizations, ORGANIZATIONS, random)
  const drawAgent = indexDraw(agents, AGENTS, random)
  const drawTenant = tenants && indexDraw(tenants, TENANTS, random)
  const members = Array.from({ length: ORGANIZATIONS }, () => ({
    organizationId: createId(random, 0),
    agentIds: Array.from({ length: AGENTS }, () => createId(random, 0)),
  }))
  return () => {
    const { organizationId, agentIds } = members[drawOrganization()] as (typeof members)[number]
    return {
      organizationId,
      agentId: String(agentIds[drawAgent()]),
      tenantId: drawTenant ? `tenant-${drawTenant()}` : null,
    }
  }
}

function indexDraw(skew: Skew, count: number, random: Random): () => number {
  const cumulative: number[] = []
  for (let rank = 0; rank < count; rank++) {
    cumulative.push((cumulative.at(-1) ?? 0) + weightOf(skew, rank, count))
  }
  const total = cumulative.at(-1) ?? 0
  return () => {
    const drawn = random() * total
    const index = cumulative.findIndex((sum) => drawn < sum)
    return index === -1 ? count - 1 : index
  }
}

function weightOf(skew: Skew, rank: number, count: number): number {
  if (skew === 'even') return 1
  if (skew === 'zipf') return 1 / (rank + 1)
  return rank === 0 ? skew : (1 - skew) / (count - 1)
}
