import type { Agent, Version } from '../core/agent.ts'
import type { AgentListParams, AgentStore, Page } from '../core/ports.ts'
import { readChunks, writeChunks } from './table/chunks.ts'
import {
  agentKey,
  codeKey,
  LIST_SHARDS,
  ownedShard,
  shardOf,
  VERSION_PREFIX,
  versionKey,
} from './table/keys.ts'
import { fitPage, listRecords } from './table/sharded-list.ts'
import type { Change, Item, Table } from './table/table.ts'

/** Agents with their versions and code. An agent is one partition. */
export function agentStore(table: Table): AgentStore {
  return {
    async publish({ version, code }) {
      const { id, agentId } = version
      const codeChunks =
        code === null ? 0 : await writeChunks(table, code, (chunk) => codeKey(agentId, id, chunk))
      const item = { ...versionToItem(version), codeChunks }
      await table.put({ ...versionKey(agentId, id), ...item })
      await table.update(agentKey(agentId), toAgentChange(version, item))
    },

    async get({ organizationId, id }) {
      const item = await table.get(agentKey(id), { consistent: true })
      return item?.organizationId === organizationId ? agentFromItem(item) : null
    },

    async list({ organizationId, agentIds = null, ...page }) {
      if (agentIds) return listOf(table, { organizationId, agentIds, ...page })
      const { items, next } = await listRecords(
        table,
        {
          index: 'owned-by-organization',
          shard: (shard) => ownedShard(organizationId, 'AGENT', shard),
          ...page,
        },
        recordBytes,
      )
      return { items: items.map(agentFromItem), next }
    },

    async getVersion({ organizationId, agentId, id }) {
      const item = await table.get(versionKey(agentId, id), { consistent: true })
      return item?.organizationId === organizationId ? versionFromItem(item) : null
    },

    async listVersions({ organizationId, agentId, limit, after }) {
      // BETWEEN includes the position, which is not on the page. One more item shows whether there is a next page.
      const { items, lastKey } = await table.query({
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
        ExpressionAttributeValues: {
          ':pk': agentKey(agentId).pk,
          ':first': VERSION_PREFIX,
          ':last': after ? `${VERSION_PREFIX}${after.order}` : `${VERSION_PREFIX}~`,
        },
        ScanIndexForward: false,
        ConsistentRead: true,
        Limit: limit + 2,
      })
      const versions = items
        .filter((item) => item.id !== after?.order && item.organizationId === organizationId)
        .map(versionFromItem)
      const page = versions.slice(0, limit)
      // DynamoDB returns 1 MB at most, which fits a response: the page needs no other limit in bytes.
      const hasMore = versions.length > limit || lastKey !== null
      const last = page.at(-1)
      return { items: page, next: hasMore && last ? { order: last.id } : null }
    },

    async getCode({ agentId, versionId }) {
      const version = await table.get(versionKey(agentId, versionId), { consistent: true })
      if (!version?.codeChunks) return null
      return readChunks(table, Number(version.codeChunks), (chunk) => codeKey(agentId, versionId, chunk))
    },
  }
}

/** A page of the agents with these ids, in the order of the index. */
async function listOf(
  table: Table,
  { organizationId, agentIds, limit, after }: AgentListParams & { agentIds: string[] },
): Promise<Page<Agent>> {
  const found = await table.getMany(agentIds.map(agentKey), { consistent: true })
  const following = found
    .filter((item) => item.organizationId === organizationId && (!after || orderOf(item) < after.order))
    .sort((a, b) => (orderOf(a) < orderOf(b) ? 1 : -1))
  const page = fitPage(following.slice(0, limit), recordBytes)
  const last = page.length < following.length && page.at(-1)
  return { items: page.map(agentFromItem), next: last ? { order: orderOf(last) } : null }
}

const orderOf = ({ listOrder }: Item): string => String(listOrder)

/** Approximate size of the record as JSON. */
const recordBytes = ({ title, description, inputSchema, outputSchema }: Item): number =>
  Buffer.byteLength([title, description, inputSchema, outputSchema].join(''))

/** The single write that publishes a version: readers see the agent before or after it, never in between. */
function toAgentChange(version: Version, item: Item): Change {
  const { organizationId, agentId: id, slug, title, createdAt, createdBy, status } = version
  const { description, inputSchema, outputSchema } = item
  const identity = {
    id,
    organizationId,
    slug,
    createdAt,
    createdBy,
    ownerShard: ownedShard(organizationId, 'AGENT', shardOf(id, LIST_SHARDS)),
    listOrder: `${createdAt}#${id}`,
  }
  const shown = { title, description, inputSchema, outputSchema }
  if (status === 'DRAFT') {
    return { setOnce: { ...identity, ...shown }, set: { draftVersionId: version.id, updatedAt: createdAt } }
  }
  return {
    setOnce: identity,
    set: { ...shown, current: item, updatedAt: createdAt },
    remove: description === undefined ? ['draftVersionId', 'description'] : ['draftVersionId'],
  }
}

/** Schemas, settings and tools are stored as JSON text, which keeps the order of keys and the form of numbers. */
function versionToItem(version: Version): Item {
  return {
    ...version,
    description: version.description ?? undefined,
    model: version.model ?? undefined,
    modelSettings: version.modelSettings && JSON.stringify(version.modelSettings),
    inputSchema: JSON.stringify(version.inputSchema),
    outputSchema: JSON.stringify(version.outputSchema),
    execution: JSON.stringify(version.execution),
    tools: JSON.stringify(version.tools),
  }
}

function versionFromItem(item: Item): Version {
  const {
    id,
    agentId,
    organizationId,
    slug,
    status,
    title,
    createdAt,
    createdBy,
    code,
    instructions,
    digest,
  } = item as Version
  return {
    id,
    agentId,
    organizationId,
    slug,
    status,
    title,
    description: (item.description as string | undefined) ?? null,
    createdAt,
    createdBy,
    inputSchema: JSON.parse(String(item.inputSchema)),
    outputSchema: JSON.parse(String(item.outputSchema)),
    model: (item.model as string | undefined) ?? null,
    ...(item.modelSettings !== undefined && { modelSettings: JSON.parse(String(item.modelSettings)) }),
    tools: JSON.parse(String(item.tools ?? '[]')),
    code,
    env: (item.env as string[] | undefined) ?? [],
    instructions,
    execution: JSON.parse(String(item.execution)),
    digest,
  }
}

function agentFromItem(item: Item): Agent {
  const { id, organizationId, slug, title, createdAt, createdBy, updatedAt } = item as Agent
  return {
    id,
    organizationId,
    slug,
    title,
    description: (item.description as string | undefined) ?? null,
    createdAt,
    createdBy,
    updatedAt,
    inputSchema: JSON.parse(String(item.inputSchema)),
    outputSchema: JSON.parse(String(item.outputSchema)),
    current: item.current ? versionFromItem(item.current as Item) : null,
    draftVersionId: (item.draftVersionId as string | undefined) ?? null,
  }
}
