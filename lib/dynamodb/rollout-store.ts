import type { Agent } from '../core/agent.ts'
import type { AgentStore, RolloutStore } from '../core/ports/agents.ts'
import type { AbortedEvent } from '../core/rollout.ts'
import {
  abortedAttribute,
  agentFromItem,
  EXISTS,
  IS_ACTIVE,
  isAborted,
  isNotRetired,
  isOwnedBy,
  isRollout,
  refersTo,
} from './agent-item.ts'
import { allOf } from './table/expressions.ts'
import {
  abortedRolloutKey,
  agentKey,
  outboxKeys,
  ROLLOUTS_SHARD,
  rolloutWatchKey,
  watchedAgentIdOf,
} from './table/keys.ts'
import { type Item, NOT_EXISTS, pick, queryPages, type Table } from './table/table.ts'
import { publishDraft } from './version-store.ts'

/** How long the start of a rollout may take from its entry into the timers on. */
const MAX_START_MS = 30_000

/** Versions of an agent whose item says why the service has ended their rollout. */
const MAX_ABORTED_ROLLOUTS = 50

/** The rollouts of agents, which are in their items. */
export const agentRollouts = (
  table: Table,
): Pick<AgentStore, 'setRollout' | 'endRollout' | 'setAbortTold'> => ({
  async setRollout({ organizationId, agentId, draftVersionId, current, replaces, rollout, now }) {
    const sendBefore = Date.now() + MAX_START_MS
    const { versionId: id } = rollout
    if (!(await publishDraft(table, { organizationId, agentId, id }))) return null
    // Before it begins: a rollout that should be watched always is.
    if (rollout.abort)
      await table.update(rolloutWatchKey(agentId), {
        set: { organizationId, openShard: ROLLOUTS_SHARD, startedAt: now },
        // One that is in the timers stays due.
        setOnce: { openUntil: now },
      })
    const updated = await table.update(agentKey(agentId), {
      set: { rollout },
      remove: draftVersionId === id ? ['draftVersionId'] : [],
      sendBefore,
      condition: allOf(
        EXISTS,
        IS_ACTIVE,
        isNotRetired(id),
        refersTo('DRAFT', draftVersionId),
        refersTo('PUBLISHED', current.id),
        isRollout(replaces),
      ),
    })
    return updated && agentFromItem(updated)
  },

  async endRollout({ organizationId, agentId, rollout, aborted }) {
    const key = agentKey(agentId)
    const updated = await table.update(key, {
      ...(aborted && { set: { [abortedAttribute(aborted.versionId)]: { ...aborted, isPending: true } } }),
      remove: ['rollout'],
      condition: allOf(isOwnedBy(organizationId), isRollout(rollout)),
    })
    if (!updated) return null
    const agent = agentFromItem(updated)
    if (aborted) await forgetAborted(table, agent)
    return agent
  },

  async setAbortTold({ agentId, aborted }) {
    await table.update(agentKey(agentId), {
      set: { [abortedAttribute(aborted.versionId)]: aborted },
      condition: isAborted(aborted),
    })
  },
})

/** Only the latest are kept. Best effort: the next end of a rollout repeats it. */
async function forgetAborted(table: Table, { id, abortedRollouts }: Agent): Promise<void> {
  const told = Object.values(abortedRollouts).filter(({ isPending }) => !isPending)
  const oldest = told.sort((a, b) => (a.at < b.at ? 1 : -1)).slice(MAX_ABORTED_ROLLOUTS)
  for (const aborted of oldest)
    await table.update(agentKey(id), {
      remove: [abortedAttribute(aborted.versionId)],
      condition: isAborted(aborted),
    })
}

/** The shard `ROLLOUTS` of the index `open-executions`, and what destinations are told: an item each. */
export const rolloutStore = (table: Table): RolloutStore => ({
  async listWatched() {
    const watched: { organizationId: string; agentId: string }[] = []
    const pages = queryPages(table, {
      IndexName: 'open-executions',
      KeyConditionExpression: 'openShard = :shard',
      ExpressionAttributeValues: { ':shard': ROLLOUTS_SHARD },
    })
    for await (const items of pages)
      for (const { organizationId, pk, sk } of items)
        watched.push({
          organizationId: String(organizationId),
          agentId: watchedAgentIdOf({ pk: String(pk), sk: String(sk) }),
        })
    return watched
  },

  unwatch: ({ agentId, before }) =>
    table.delete(rolloutWatchKey(agentId), {
      expression: '#startedAt < :before',
      names: ['startedAt'],
      values: { before },
    }),

  putAborted: ({ aborted, now }) =>
    table.put(
      {
        ...abortedRolloutKey(aborted.id),
        ...pick(aborted, TOLD),
        ...outboxKeys(aborted.id, now),
      },
      NOT_EXISTS,
    ),

  async getAborted({ organizationId, id }) {
    const item: Item | null = await table.get(abortedRolloutKey(id), { consistent: true })
    return item?.organizationId === organizationId ? pick(item as AbortedEvent, TOLD) : null
  },
})

const TOLD = [
  'id',
  'organizationId',
  'agentId',
  'slug',
  'versionId',
  'percent',
  'key',
  'startedAt',
  'at',
  'reason',
  'figures',
] as const satisfies (keyof AbortedEvent)[]
