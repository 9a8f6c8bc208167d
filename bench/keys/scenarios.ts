import type { Population } from './population.ts'
import type { RunKind } from './runs.ts'

/** `shared`: the part of the runs that have one cache key or idempotency key; the others each have their own. */
export type Scenario = { name: string; kind: RunKind; shared?: number } & Population

const EVEN: Population = { organizations: 'even', agents: 'even', tenants: 'even' }
const ZIPF: Population = { organizations: 'zipf', agents: 'zipf', tenants: 'zipf' }
const HOT = 0.9

export const SCENARIOS: Scenario[] = [
  { name: 'even', kind: 'sync', ...EVEN },
  { name: 'even', kind: 'async', ...EVEN },
  { name: 'even', kind: 'model', ...EVEN },
  { name: 'Zipf', kind: 'sync', ...ZIPF },
  { name: 'Zipf', kind: 'async', ...ZIPF },
  { name: 'hot organization', kind: 'sync', ...ZIPF, organizations: HOT, agents: 'even' },
  { name: 'hot organization', kind: 'async', ...ZIPF, organizations: HOT, agents: 'even' },
  { name: 'hot agent', kind: 'sync', ...ZIPF, organizations: HOT, agents: 1 },
  { name: 'hot agent', kind: 'async', ...ZIPF, organizations: HOT, agents: 1 },
  { name: 'hot tenant', kind: 'async', ...ZIPF, organizations: HOT, agents: 'even', tenants: 1 },
  { name: 'hot cached result', kind: 'cached', ...ZIPF, shared: HOT },
  { name: 'hot key, no result yet', kind: 'waiting', ...ZIPF, shared: HOT },
  { name: 'hot idempotency key', kind: 'repeated', ...EVEN, shared: HOT },
]
