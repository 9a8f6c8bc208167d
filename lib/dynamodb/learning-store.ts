import type { Feedback } from '../core/execution.ts'
import type { JsonObject } from '../core/json.ts'
import {
  BYTES_PER_TOKEN,
  EXAMPLES_TOKENS,
  type Example,
  type LearningScope,
  type LearningStore,
} from '../core/learning.ts'
import { type ExecutionItem, fromItem } from './execution-item.ts'
import { agentShard, executionKey } from './keys.ts'
import { payloadBytes, removePayload, type StoredPayload, storePayload } from './payload.ts'
import { readRecords, readShardedPage } from './sharded-list.ts'
import type { Condition, Item, Table } from './table.ts'

/** Entries of the index that a query looks at: a tenant with a tenth of its agent's runs is found in the first round. */
const BITE = 250

/** Feedback on executions, and the executions that others learn from. */
export function learningStore(table: Table): LearningStore {
  return {
    async giveFeedback({ organizationId, id, feedback, writer }) {
      const key = executionKey(id)
      const before = (await table.get(key, { consistent: true })) as (Item & ExecutionItem) | null
      if (before?.organizationId !== organizationId || before.deleted) return 'missing'
      if (before.status === 'IN_PROGRESS') return 'open'
      const stored = await storePayload(table, id, `feedback-${writer}`, feedback)
      const item = await table.update(key, {
        set: { feedback: stored },
        condition: {
          expression: 'attribute_exists(pk) AND attribute_not_exists(#deleted)',
          names: ['deleted'],
        },
      })
      await removePayload(table, id, item ? before.feedback : stored)
      return item ? fromItem(table, item) : 'missing'
    },

    async listExamples({ limit, ...learner }) {
      const page = await readShardedPage(table, {
        index: 'executions-of-agent',
        shard: (shard) => agentShard(learner.agentId, shard),
        filter: endedOf(learner),
        bite: BITE,
        limit,
        after: null,
      })
      return examplesIn(await readRecords(table, page), learner)
    },

    async getExamples({ ids, ...learner }) {
      return examplesIn(await table.getMany(ids.map(executionKey), { consistent: true }), learner)
    },
  }
}

function endedOf({ tenantId }: LearningScope): Condition {
  const ofTenant = tenantId === null ? 'attribute_not_exists(#tenantId)' : '#tenantId = :tenantId'
  return {
    expression: `#status <> :open AND ${ofTenant}`,
    names: ['status', 'tenantId'],
    values: { open: 'IN_PROGRESS', ...(tenantId !== null && { tenantId }) },
  }
}

function examplesIn(items: Item[], learner: LearningScope): Example[] {
  return items.flatMap((item) => exampleIn(item as ExecutionItem, learner) ?? [])
}

/** Null for what has no output to learn from, or belongs to another, or is too large; chunks are not read to find out. */
function exampleIn(
  item: ExecutionItem,
  { organizationId, agentId, tenantId }: LearningScope,
): Example | null {
  const isOwn =
    item.organizationId === organizationId && item.agentId === agentId && (item.tenantId ?? null) === tenantId
  if (!isOwn || item.deleted || item.status === 'IN_PROGRESS') return null
  if (item.feedback && !('json' in item.feedback)) return null
  const feedback = item.feedback ? (JSON.parse(item.feedback.json) as Feedback) : null
  const input = smallOf(item.input)
  const output = feedback?.correctedOutput ?? smallOf(item.output)
  if (!input || !output) return null
  return {
    id: item.id,
    organizationId,
    agentId,
    tenantId,
    input,
    output,
    isCorrected: feedback !== null && feedback.correctedOutput !== null,
    rating: feedback?.rating ?? null,
    cached: item.cached,
  }
}

const smallOf = (payload: StoredPayload | undefined): JsonObject | null =>
  payload && 'json' in payload && payloadBytes(payload) <= EXAMPLES_TOKENS * BYTES_PER_TOKEN
    ? (JSON.parse(payload.json) as JsonObject)
    : null
