import type { Feedback } from '../core/execution.ts'
import type { JsonObject } from '../core/json.ts'
import {
  BYTES_PER_TOKEN,
  EXAMPLES_TOKENS,
  type Example,
  type LearningScope,
  type LearningStore,
} from '../core/learning.ts'
import { parseStoredJson } from '../core/parse-json.ts'
import { type ExecutionItem, fromItem } from './execution-item.ts'
import { agentShard, executionKey } from './table/keys.ts'
import { deletePayload, payloadBytes, type StoredPayload, storePayload } from './table/payload.ts'
import { listRecords } from './table/sharded-list.ts'
import type { Condition, Item, Table } from './table/table.ts'

/** One round of queries finds the executions of a tenant that has at least a tenth of its agent's executions. */
const QUERY_LIMIT = 250

/** Feedback on executions, and the executions that runs learn from. */
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
      await deletePayload(table, id, item ? before.feedback : stored)
      return item ? fromItem(table, item) : 'missing'
    },

    async listExamples({ limit, ...scope }) {
      const { items } = await listRecords(table, {
        index: 'executions-of-agent',
        shard: (shard) => agentShard(scope.agentId, shard),
        filter: isFinalIn(scope),
        queryLimit: QUERY_LIMIT,
        limit,
        after: null,
      })
      return toExamples(items, scope)
    },

    async getExamples({ ids, ...scope }) {
      return toExamples(await table.getMany(ids.map(executionKey), { consistent: true }), scope)
    },
  }
}

function isFinalIn({ tenantId }: LearningScope): Condition {
  const isTenant = tenantId === null ? 'attribute_not_exists(#tenantId)' : '#tenantId = :tenantId'
  return {
    expression: `#status <> :open AND ${isTenant}`,
    names: ['status', 'tenantId'],
    values: { open: 'IN_PROGRESS', ...(tenantId !== null && { tenantId }) },
  }
}

function toExamples(items: Item[], scope: LearningScope): Example[] {
  return items.flatMap((item) => toExample(item as ExecutionItem, scope) ?? [])
}

/** Null if the execution has no output, is outside the scope or is too large. Does not read chunks: these are too large. */
function toExample(
  item: ExecutionItem,
  { organizationId, agentId, tenantId }: LearningScope,
): Example | null {
  const isInScope =
    item.organizationId === organizationId && item.agentId === agentId && (item.tenantId ?? null) === tenantId
  if (!isInScope || item.deleted || item.status === 'IN_PROGRESS') return null
  if (item.feedback && !('json' in item.feedback)) return null
  const feedback = item.feedback ? (parseStoredJson(item.feedback.json) as unknown as Feedback) : null
  const input = parseIfSmall(item.input, parseStoredJson)
  const output = feedback?.correctedOutput ?? parseIfSmall(item.output, JSON.parse)
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

function parseIfSmall(
  payload: StoredPayload | undefined,
  parse: (text: string) => unknown,
): JsonObject | null {
  const isSmall = payload && 'json' in payload && payloadBytes(payload) <= EXAMPLES_TOKENS * BYTES_PER_TOKEN
  return isSmall ? (parse(payload.json) as JsonObject) : null
}
