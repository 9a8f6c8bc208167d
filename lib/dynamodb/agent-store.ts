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
      // One more than the page to know whether there is a next one; the place itself is in the range, and not in the page.
      const { items: found, lastKey } = await table.query({
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
      const rest = found
        .filter((item) => item.id !== after?.order && item.organizationId === organizationId)
        .map((item): Item => ({ ...item, listOrder: item.id }))
      const shown = rest.slice(0, limit)
      const hasMore = rest.length > limit || lastKey !== null
      const next = hasMore && shown.length > 0 ? { order: String(shown.at(-1)?.id) } : null
      const page = cutPage({ items: shown, next }, shown, schemaBytes)
      return { items: page.items.map(versionFromItem), next: page.next }
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
