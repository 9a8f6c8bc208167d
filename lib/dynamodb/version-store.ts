import type { Version } from '../core/agent.ts'
import type { AgentStore, VersionId } from '../core/ports/agents.ts'
import {
  EXISTS,
  hasStatus,
  IS_NOT_DELETED,
  isOwnedBy,
  refersTo,
  retiredAttribute,
  versionFromItem,
  versionToItem,
} from './agent-item.ts'
import { readChunks, writeChunks } from './table/chunks.ts'
import { allOf } from './table/expressions.ts'
import { agentKey, codeKey, VERSION_PREFIX, versionKey } from './table/keys.ts'
import type { Item, Table } from './table/table.ts'

/** Versions with their code, as others see them. */
export function versionStore(
  table: Table,
): Pick<AgentStore, 'deleteVersion' | 'getVersion' | 'listVersions' | 'getCode'> {
  return {
    async deleteVersion({ organizationId, agentId, id, status }) {
      const key = versionKey(agentId, id)
      const isRefused = status === 'DRAFT' && (await refuseDraft(table, { organizationId, agentId, id }))
      const marked = await table.update(key, {
        set: { deleted: true, status },
        condition: allOf(isOwnedBy(organizationId), isRefused ? EXISTS : hasStatus(status)),
      })
      if (!marked) return (await readVersion(table, { organizationId, agentId, id })) ? 'other' : 'missing'
      await table.update(agentKey(agentId), {
        remove: ['draftVersionId'],
        condition: refersTo('DRAFT', id),
      })
      await table.update(agentKey(agentId), { remove: [retiredAttribute(id)], condition: EXISTS })
      // The version last: it says how many chunks there are, should this be interrupted.
      const chunks = Array.from({ length: Number(marked.codeChunks ?? 0) }, (_, chunk) => ({
        delete: codeKey(agentId, id, chunk),
      }))
      await table.writeMany(chunks)
      await table.writeMany([{ delete: key }])
      return 'deleted'
    },

    async getVersion({ organizationId, agentId, id }) {
      const item = await readVersion(table, { organizationId, agentId, id })
      if (!item) return null
      const [version] = await withDrafts(table, [versionFromItem(item)])
      return version ?? null
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
        .filter((item) => item.id !== after?.order && item.organizationId === organizationId && !item.deleted)
        .map(versionFromItem)
      const page = await withDrafts(table, versions.slice(0, limit))
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

export const withoutKey = ({ pk: _, sk: __, ...item }: Item): Item => item

/** Null also for a version that is being deleted. */
export async function readVersion(
  table: Table,
  { organizationId, agentId, id }: VersionId,
): Promise<Item | null> {
  const item = await table.get(versionKey(agentId, id), { consistent: true })
  return item && item.organizationId === organizationId && !item.deleted ? item : null
}

/** The code first: readers of the version also find its code. */
export async function writeVersion(table: Table, version: Version, code: string | null): Promise<Item> {
  const { id, agentId } = version
  const codeChunks =
    code === null ? 0 : await writeChunks(table, code, (chunk) => codeKey(agentId, id, chunk))
  const item = { ...versionToItem(version), codeChunks }
  await table.put({ ...versionKey(agentId, id), ...item })
  return item
}

/**
 * Before another version replaces the current one: whatever happens then, this one was current, and the agent says who
 * has promoted it. One write later, both would be forgotten by a process that dies in between.
 */
export async function markReplaced(
  table: Table,
  { agentId, id }: Pick<Version, 'agentId' | 'id'>,
): Promise<void> {
  const attributes = ['current', 'promotion']
  const agent = await table.get(agentKey(agentId), { consistent: true, attributes })
  const isCurrent = (agent?.current as Item | undefined)?.id === id
  await table.update(versionKey(agentId, id), {
    set: { promotion: isCurrent ? agent?.promotion : undefined },
    remove: ['neverReplaced'],
    condition: EXISTS,
  })
}

/**
 * The version, which is not a draft any more. After this write it cannot be deleted, so that the agent can refer to it.
 * A published version, to which an agent is rolled back, is only read.
 */
export async function publishDraft(table: Table, version: VersionId, message?: string): Promise<Item | null> {
  const item = await readVersion(table, version)
  if (item?.status !== 'DRAFT') return item
  return table.update(versionKey(version.agentId, version.id), {
    set: { status: 'PUBLISHED', message, neverReplaced: true },
    condition: allOf(EXISTS, IS_NOT_DELETED),
  })
}

/**
 * Versions of one agent as others see them. One that is to be released is a draft until the agent's write succeeds, by
 * which the agent has no draft any more: it remains one if that write is refused, or if the process dies before.
 */
async function withDrafts(table: Table, versions: Version[]): Promise<Version[]> {
  const unsure = versions.find(({ status, neverReplaced }) => status === 'PUBLISHED' && neverReplaced)
  if (!unsure) return versions
  const agent = await table.get(agentKey(unsure.agentId), { consistent: true })
  return versions.map((version) => {
    if (version.id !== agent?.draftVersionId) return version
    const { neverReplaced: _, ...draft } = version
    return { ...draft, status: 'DRAFT' }
  })
}

/** Whether a draft was to be released, and no process can do so any more. Until it is deleted, it stays the draft. */
async function refuseDraft(table: Table, { organizationId, agentId, id }: VersionId): Promise<boolean> {
  const item = await readVersion(table, { organizationId, agentId, id })
  if (item?.status !== 'PUBLISHED') return false
  const refused = await table.update(agentKey(agentId), {
    set: { [retiredAttribute(id)]: new Date().toISOString() },
    condition: allOf(isOwnedBy(organizationId), refersTo('DRAFT', id)),
  })
  return refused !== null
}
