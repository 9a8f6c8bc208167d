import type { Version } from '../core/agent.ts'
import type { AgentStore } from '../core/ports.ts'
import { agentFromItem, versionFromItem, versionToItem } from './agent-item.ts'
import { readChunks, writeChunks } from './chunks.ts'
import { agentKey, codeKey, ownedShard, shardOf, VERSION_PREFIX, versionKey } from './keys.ts'
import { cutPage } from './page-bytes.ts'
import { readRecords, readShardedPage } from './sharded-list.ts'
import type { Change, Item, Table } from './table.ts'

/** Agents with their versions and code, one partition an agent. */
export function agentStore(table: Table): AgentStore {
  return {
    async publish({ version, code }) {
      const { id, agentId } = version
      const codeChunks =
        code === null ? 0 : await writeChunks(table, code, (chunk) => codeKey(agentId, id, chunk))
      const item = { ...versionToItem(version), codeChunks }
      await table.put({ ...versionKey(agentId, id), ...item })
      await table.update(agentKey(agentId), pointing(version, item))
    },

    async get({ organizationId, id }) {
      const item = await table.get(agentKey(id), { consistent: true })
      return item?.organizationId === organizationId ? agentFromItem(item) : null
    },

    async list({ organizationId, limit, after }) {
      const page = await readShardedPage(table, {
        index: 'owned-by-organization',
        shard: (shard) => ownedShard(organizationId, 'AGENT', shard),
        limit,
        after,
      })
      const { items, next } = cutPage(page, await readRecords(table, page), schemaBytes)
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

const schemaBytes = ({ inputSchema, outputSchema }: Item) =>
  String(inputSchema).length + String(outputSchema).length

/** The one write that makes a version the agent's own: a reader sees the agent before or after it, never between. */
function pointing(version: Version, item: Item): Change {
  const { organizationId, agentId: id, slug, title, createdAt, createdBy, status } = version
  const { description, inputSchema, outputSchema } = item
  const identity = {
    id,
    organizationId,
    slug,
    createdAt,
    createdBy,
    ownerShard: ownedShard(organizationId, 'AGENT', shardOf(id)),
    listOrder: `${createdAt}#${id}`,
  }
  const face = { title, description, inputSchema, outputSchema }
  if (status === 'DRAFT') {
    return { setOnce: { ...identity, ...face }, set: { draftVersionId: version.id, updatedAt: createdAt } }
  }
  return {
    setOnce: identity,
    set: { ...face, current: item, updatedAt: createdAt },
    remove: description === undefined ? ['draftVersionId', 'description'] : ['draftVersionId'],
  }
}
