import { v7 } from 'uuid'

/** Between 0 and 1, the same for the same seed: mulberry32. */
export type Random = () => number

export function seeded(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** How runs fall on the members of a group: alike, by Zipf's law with exponent 1, or a share of all on the first. */
export type Skew = 'even' | 'zipf' | number

export type Population = { organizations: Skew; agents: Skew; tenants: Skew }

const ORGANIZATIONS = 1_000
const AGENTS = 5
const TENANTS = 20

export type Member = { organizationId: string; agentId: string; tenantId: string }

/** Draws whose run the next one is, out of 1,000 organizations with 5 agents and 20 tenants each. */
export function population({ organizations, agents, tenants }: Population, random: Random): () => Member {
  const organization = drawer(organizations, ORGANIZATIONS, random)
  const agent = drawer(agents, AGENTS, random)
  const tenant = drawer(tenants, TENANTS, random)
  const ids = Array.from({ length: ORGANIZATIONS }, () => ({
    organizationId: newId(random, 0),
    agentIds: Array.from({ length: AGENTS }, () => newId(random, 0)),
  }))
  return () => {
    const { organizationId, agentIds } = ids[organization()] as (typeof ids)[number]
    return { organizationId, agentId: String(agentIds[agent()]), tenantId: `tenant-${tenant()}` }
  }
}

/** A UUIDv7 as the service makes them. With `byte`, its last byte: in the long run each comes as often as any other. */
export function newId(random: Random, msecs: number, byte?: number): string {
  const bytes = Uint8Array.from({ length: 16 }, () => Math.floor(random() * 256))
  if (byte !== undefined) bytes[15] = byte
  return v7({ msecs, random: bytes })
}

export function drawer(skew: Skew, count: number, random: Random): () => number {
  const cumulated: number[] = []
  for (let rank = 0; rank < count; rank++) {
    cumulated.push((cumulated.at(-1) ?? 0) + weightOf(skew, rank, count))
  }
  const total = cumulated.at(-1) ?? 0
  return () => {
    const place = random() * total
    const found = cumulated.findIndex((sum) => place < sum)
    return found === -1 ? count - 1 : found
  }
}

function weightOf(skew: Skew, rank: number, count: number): number {
  if (skew === 'even') return 1
  if (skew === 'zipf') return 1 / (rank + 1)
  return rank === 0 ? skew : (1 - skew) / (count - 1)
}
