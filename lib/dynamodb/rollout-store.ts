import type { RolloutStore } from '../core/ports/agents.ts'
import type { AbortedEvent } from '../core/rollout.ts'
import {
  abortedRolloutKey,
  OUTBOX_SHARDS,
  outboxShard,
  ROLLOUTS_SHARD,
  rolloutWatchKey,
  shardOf,
  watchedAgentIdOf,
} from './table/keys.ts'
import { type Item, NOT_EXISTS, pick, queryPages, type Table } from './table/table.ts'

/** How long the start of a rollout may take from its entry into the timers on. */
export const MAX_START_MS = 30_000

/** Enters an agent into the timers, at once; one that is there stays due. `now`: milliseconds since the epoch. */
export async function watchRollout(
  table: Table,
  { organizationId, agentId, now }: { organizationId: string; agentId: string; now: number },
): Promise<void> {
  await table.update(rolloutWatchKey(agentId), {
    set: { organizationId, openShard: ROLLOUTS_SHARD, startedAt: now },
    setOnce: { openUntil: now },
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
        openShard: outboxShard(shardOf(aborted.id, OUTBOX_SHARDS)),
        openUntil: now,
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
