import type { Agent, VersionStatus } from '../core/agent.ts'
import type { AgentListParams, AgentStore } from '../core/ports/agents.ts'
import type { Page } from '../core/ports/system.ts'
import {
  agentFromItem,
  EXISTS,
  hasTimer,
  IS_ACTIVE,
  isNotCurrent,
  isNotRetired,
  isNotRolledOut,
  isOwnedBy,
  recordBytes,
  refersTo,
  retiredAttribute,
  shownOf,
  syncTimer,
  toAgentChange,
} from './agent-item.ts'
import { agentRollouts } from './rollout-store.ts'
import { allOf } from './table/expressions.ts'
import { agentKey, ownedShard, versionNumbersKey } from './table/keys.ts'
import { fitPage, listRecords } from './table/sharded-list.ts'
import type { Item, Table } from './table/table.ts'
import {
  markReplaced,
  publishDraft,
  readVersion,
  versionStore,
  withoutKey,
  writeVersion,
} from './version-store.ts'

/** Pages without an active agent that one request reads before it returns an empty page with a cursor. */
const MAX_READS = 10

/** Agents with their versions and code. An agent is one partition. */
export function agentStore(table: Table): AgentStore {
  return {
    async publish({ version, code, replaces, isWritten = false, syncAt = null }) {
      const { id, agentId } = version
      const written = isWritten ? await readVersion(table, version) : null
      const item = written ? withoutKey(written) : await writeVersion(table, version, code)
      if (version.status === 'PUBLISHED' && replaces) await markReplaced(table, { agentId, id: replaces })
      const condition = allOf(IS_ACTIVE, replaces === undefined ? null : refersTo(version.status, replaces))
      const change = { ...toAgentChange(version, item, syncAt), condition }
      if (await table.update(agentKey(agentId), change)) return true
      // The SDK may have repeated a write whose response was lost.
      const agent = await table.get(agentKey(agentId), { consistent: true })
      return referenceOf(agent, version.status) === id
    },

    async takeNumber({ agentId }) {
      const item = await table.update(versionNumbersKey(agentId), { add: { last: 1 } })
      return Number(item?.last)
    },

    async promote({ organizationId, agentId, id, draftVersionId, current, promotion, syncAt, message }) {
      const item = await publishDraft(table, { organizationId, agentId, id }, message)
      if (!item) return null
      if (current) await markReplaced(table, current)
      const mustSync = item.schedules !== undefined || current?.schedules !== undefined
      const change = {
        ...(mustSync && { setOnce: syncTimer(agentId, syncAt) }),
        set: { ...shownOf(item), current: withoutKey(item), promotion, updatedAt: promotion.at },
        remove: [
          'rollout',
          ...(item.description === undefined ? ['description'] : []),
          ...(draftVersionId === id ? ['draftVersionId'] : []),
        ],
        condition: allOf(
          EXISTS,
          IS_ACTIVE,
          isNotRetired(id),
          refersTo('DRAFT', draftVersionId),
          refersTo('PUBLISHED', current?.id ?? null),
        ),
      }
      const updated = await table.update(agentKey(agentId), change)
      return updated && agentFromItem(updated)
    },

    async claimSync({ agentId, syncAt, until }) {
      const change = { set: { openUntil: until }, condition: hasTimer(syncAt) }
      const updated = await table.update(agentKey(agentId), change)
      return updated && agentFromItem(updated)
    },

    async finishSync({ agentId, syncAt, versionId }) {
      const updated = await table.update(agentKey(agentId), {
        remove: ['openShard', 'openUntil'],
        condition: allOf(hasTimer(syncAt), refersTo('PUBLISHED', versionId)),
      })
      return updated !== null
    },

    ...agentRollouts(table),
    ...versionStore(table),

    async setArchived({ organizationId, id, archivedAt }) {
      const updated = await table.update(agentKey(id), {
        ...(archivedAt === null ? { remove: ['archivedAt'] } : { setOnce: { archivedAt } }),
        condition: isOwnedBy(organizationId),
      })
      return updated && agentFromItem(updated)
    },

    async setRetired({ organizationId, agentId, id, retiredAt }) {
      const name = retiredAttribute(id)
      const updated = await table.update(agentKey(agentId), {
        ...(retiredAt === null ? { remove: [name] } : { setOnce: { [name]: retiredAt } }),
        condition: allOf(
          isOwnedBy(organizationId),
          ...(retiredAt === null ? [] : [isNotCurrent(id), isNotRolledOut(id)]),
        ),
      })
      return updated && agentFromItem(updated)
    },

    async get({ organizationId, id }) {
      const item = await table.get(agentKey(id), { consistent: true })
      return item?.organizationId === organizationId ? agentFromItem(item) : null
    },

    async list({ organizationId, agentIds = null, archived = false, ...page }) {
      if (agentIds) return listOf(table, { organizationId, agentIds, archived, ...page })
      const query = {
        index: 'owned-by-organization' as const,
        shard: (shard: number) => ownedShard(organizationId, 'AGENT', shard),
        ...page,
      }
      for (let reads = 1; ; reads++) {
        const { items, next } = await listRecords(table, query, recordBytes)
        const listed = archived ? items : items.filter(isActive)
        if (listed.length > 0 || !next || reads === MAX_READS)
          return { items: listed.map(agentFromItem), next }
        query.after = next
      }
    },
  }
}

/** A page of the agents with these ids, in the order of the index. */
async function listOf(
  table: Table,
  { organizationId, agentIds, archived, limit, after }: AgentListParams & { agentIds: string[] },
): Promise<Page<Agent>> {
  const found = await table.getMany(agentIds.map(agentKey), { consistent: true })
  const following = found
    .filter((item) => item.organizationId === organizationId && (archived || isActive(item)))
    .filter((item) => !after || orderOf(item) < after.order)
    .sort((a, b) => (orderOf(a) < orderOf(b) ? 1 : -1))
  const page = fitPage(following.slice(0, limit), recordBytes)
  const last = page.length < following.length && page.at(-1)
  return { items: page.map(agentFromItem), next: last ? { order: orderOf(last) } : null }
}

const isActive = ({ archivedAt }: Item): boolean => archivedAt === undefined

const referenceOf = (agent: Item | null, status: VersionStatus): unknown =>
  status === 'DRAFT' ? agent?.draftVersionId : (agent?.current as Item | undefined)?.id

const orderOf = ({ listOrder }: Item): string => String(listOrder)
