import { handleInProcess, toSocketEndpoint } from '../../lib/aws-sdk.ts'
import { startOf } from '../../lib/core/usage.ts'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import { USAGE_SHARDS } from '../../lib/dynamodb/table/keys.ts'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { foldUsage } from '../../lib/engine/usage/fold.ts'
import { DYNAMODB_ENDPOINT, TABLE_NAME } from '../../lib/environment.ts'
import { createId, createRandom, type Random } from './random.ts'

const MINUTE_MS = 60_000
/** The beginning of an hour: nothing has to be rolled up. */
const START = Date.UTC(2026, 10, 25, 10)
/** What a page of a query reads at most. */
const PAGE_BYTES = 1_000_000
/** Of an entry with its keys, as `npm run simulate` counts it with a tenant, a token and a model. */
const ENTRY_BYTES = 540
const UNIT_BYTES = { read: 4_096, write: 1_024 }

export type FoldScenario = { name: string; runsPerSecond: number; organizations: number; keys: number }

/** `keys`: combinations of tenant, agent, version, model and token of an organization. */
export const FOLD_SCENARIOS: FoldScenario[] = [
  { name: 'one organization, 100 combinations', runsPerSecond: 10_000, organizations: 1, keys: 100 },
  { name: 'one organization, 20,000 combinations', runsPerSecond: 10_000, organizations: 1, keys: 20_000 },
  {
    name: '1,000 organizations, 10 combinations each',
    runsPerSecond: 10_000,
    organizations: 1_000,
    keys: 10,
  },
  {
    name: '10,000 organizations, 2 combinations each',
    runsPerSecond: 10_000,
    organizations: 10_000,
    keys: 2,
  },
]

export type FoldedMinute = {
  entries: number
  pages: number
  requests: number
  readUnits: number
  writeUnits: number
  /** Of all partitions of totals, the most that one takes for the minute. */
  hottestUnits: number
  /** Of an index partition, per second. */
  indexUnits: number
  /** Of a processor, for the whole minute. */
  seconds: number
}

/**
 * One minute of runs, folded for good. The database is an answer that is ready: what is measured is the time of a
 * processor that the sweeper takes, its SDK included. `share`: of the entries that are served; the time is that of all.
 */
export async function simulateFold(
  { runsPerSecond, organizations, keys }: FoldScenario,
  { seed = 1, share = 1 }: { seed?: number; share?: number } = {},
): Promise<FoldedMinute> {
  const random = createRandom(seed)
  const total = runsPerSecond * 60 * share
  const perPage = Math.floor(PAGE_BYTES / ENTRY_BYTES)
  const entries = Array.from({ length: Math.min(total, 40_000) }, () => anEntry(random, organizations, keys))
  const pages = Math.ceil(total / perPage / USAGE_SHARDS)
  const counts = { pages: 0, requests: 0, entries: 0, writeUnits: 0 }
  const units = new Map<string, number>()
  const bodies = Array.from({ length: Math.max(Math.floor(entries.length / perPage), 1) }, (_, page) =>
    entries.slice(page * perPage, (page + 1) * perPage),
  )
  const ready = bodies.map((items) => ({
    count: items.length,
    more: Buffer.from(JSON.stringify({ Items: items, LastEvaluatedKey: { pk: { S: 'next' } } })),
    last: Buffer.from(JSON.stringify({ Items: items })),
  }))

  const served = new Map<string, number>()
  const serve: Record<string, (request: Request) => Buffer | object> = {
    GetItem: () => ({
      Item: { minute: { N: START }, hour: { N: START }, day: { N: startOf('day', START) } },
    }),
    PutItem({ Item: { pk, ...item } }) {
      const bytes = Buffer.byteLength(JSON.stringify(item))
      const written = Math.ceil(bytes / UNIT_BYTES.write)
      counts.writeUnits += written
      units.set(pk?.S ?? '', (units.get(pk?.S ?? '') ?? 0) + written)
      return {}
    },
    BatchWriteItem({ RequestItems }) {
      for (const { PutRequest } of Object.values(RequestItems).flat()) serve.PutItem?.(PutRequest as Request)
      return {}
    },
    Query({ ExpressionAttributeValues: values }) {
      const shard = values[':shard']?.S ?? ''
      const page = served.get(shard) ?? 0
      served.set(shard, page + 1)
      const body = ready[(page + Number(shard.split('#')[1])) % ready.length]
      if (!body) return { Items: [] }
      counts.pages++
      counts.entries += body.count
      return page + 1 < pages ? body.more : body.last
    },
  }
  const endpoint = toSocketEndpoint(`/simulated-${seed}-${organizations}-${keys}`)
  handleInProcess(endpoint, async ({ headers, body }) => {
    counts.requests++
    const operation = String(headers['x-amz-target']).replace(/^.*\./, '')
    const answer = serve[operation]?.(JSON.parse(new TextDecoder().decode(body as Uint8Array)))
    // The SDK changes what it gets.
    const bytes =
      answer instanceof Uint8Array ? Buffer.from(answer.buffer, answer.byteOffset, answer.length) : undefined
    const response = {
      statusCode: 200,
      headers: { 'content-type': 'application/x-amz-json-1.0' },
      body: bytes ?? Buffer.from(JSON.stringify(answer)),
    }
    return { response } as never
  })
  const { usage } = openStores(openTable({ [TABLE_NAME]: 'simulated', [DYNAMODB_ENDPOINT]: endpoint }))
  const now = START + 7 * MINUTE_MS
  const before = process.cpuUsage()
  await foldUsage({ usage, system: { now: () => now }, memory: { provisional: now } })
  const { user, system } = process.cpuUsage(before)
  const scale = (runsPerSecond * 60) / counts.entries
  return {
    entries: counts.entries,
    pages: counts.pages,
    requests: counts.requests,
    readUnits: (counts.entries * ENTRY_BYTES) / UNIT_BYTES.read / 2,
    writeUnits: counts.writeUnits,
    hottestUnits: Math.max(...units.values()),
    indexUnits: runsPerSecond / USAGE_SHARDS,
    seconds: ((user + system) / 1e6) * scale,
  }
}

type Value = { S?: string; N?: string }
type Request = {
  Item: Record<string, Value>
  ExpressionAttributeValues: Record<string, Value>
  RequestItems: Record<string, { PutRequest: object }[]>
}

const ids = new Map<string, string>()
function idOf(random: Random, name: string): string {
  const id = ids.get(name) ?? createId(random, START)
  ids.set(name, id)
  return id
}

/** As DynamoDB answers. */
function anEntry(random: Random, organizations: number, keys: number): object {
  const organization = Math.floor(random() * organizations)
  const key = Math.floor(random() * keys)
  const id = (name: string) => ({ S: idOf(random, `${organization} ${name}`) })
  const number = (max: number) => ({ N: String(Math.ceil(random() * max)) })
  return {
    organizationId: id(''),
    agentId: id(`agent ${key % 10}`),
    versionId: id(`version ${key % 10}`),
    tenantId: { S: `tenant-${key}` },
    tokenId: id('token'),
    model: { S: 'anthropic/claude-sonnet-4-5' },
    cached: { BOOL: false },
    steps: number(9),
    usage: { M: { inputTokens: number(9_999), outputTokens: number(999), costUsd: { N: '0.00123' } } },
    startedAt: { S: '2026-11-25T10:00:00.123Z' },
    usageAt: { N: String(START + Math.floor(random() * MINUTE_MS)) },
  }
}
