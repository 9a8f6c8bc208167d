import { countingTable, type Usage } from './counting-table.ts'
import { PAYLOAD_SIZES } from './payloads.ts'
import { createId, createRandom, type Random } from './random.ts'
import { type RunKind, runWalker } from './run-walker.ts'

/** How runs are distributed over a group: evenly, or with a share on the first member. */
type Skew = 'even' | number

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
const TENANT = { ...EVEN, tenants: 'even' } as const
const HOT = 0.9

export const SCENARIOS: Scenario[] = [
  { name: 'even', kind: 'sync', ...EVEN },
  { name: 'even', kind: 'async', ...EVEN },
  { name: 'even', kind: 'model', ...EVEN },
  { name: 'even', kind: 'sleeping', ...EVEN },
  { name: 'hot agent', kind: 'sync', ...TENANT, organizations: HOT, agents: 1 },
  { name: 'hot agent', kind: 'async', ...TENANT, organizations: HOT, agents: 1 },
  { name: 'single agent', kind: 'sync', ...TENANT, organizations: 1, agents: 1 },
  { name: 'hot tenant', kind: 'async', ...TENANT, organizations: HOT, tenants: 1 },
  { name: 'hot cached result', kind: 'cached', ...TENANT, shared: HOT },
  { name: 'hot key, no result yet', kind: 'waiting', ...TENANT, shared: HOT },
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
  if (skew === 'even') return () => Math.floor(random() * count)
  return () => (random() < skew ? 0 : 1 + Math.floor(random() * (count - 1)))
}
