import { describeMedia } from '../../core/describe-media.ts'
import { Unavailable } from '../../core/errors.ts'
import type { Feedback } from '../../core/execution.ts'
import { hashJson } from '../../core/json/hash-json.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { parseStoredJson } from '../../core/json/parse-json.ts'
import {
  BYTES_PER_TOKEN,
  type Embedding,
  EXAMPLES_TOKENS,
  type Example,
  isRejection,
  type LearningScope,
  type LearningStore,
  type Lesson,
  type Teachers,
} from '../../core/learning.ts'
import { searchTextOf } from '../../core/search-text.ts'
import { belongsTo } from '../cache-stores.ts'
import {
  agentShard,
  cacheKey,
  executionKey,
  isCorrectedLesson,
  lessonOrder,
  lessonShard,
} from '../table/keys.ts'
import {
  deletePayload,
  isInline,
  payloadBytes,
  readInlinePayload,
  type StoredPayload,
  scheduleCleanup,
  storePayload,
} from '../table/payload.ts'
import { INDEXES } from '../table/schema.ts'
import { listRecords } from '../table/sharded-list.ts'
import { type Condition, type Item, pick, queryPages, type Table } from '../table/table.ts'
import { isAtRevision } from './cleanup.ts'
import { type ExecutionItem, feedbackOf, loadExecution, readRecord } from './execution-item.ts'
import { scoreKeys } from './score-store.ts'

/** Concurrent writers of feedback that one of them may lose to. */
const MAX_TRIES = 50

/** One round of queries finds the executions of a tenant that has at least a tenth of its agent's executions. */
const QUERY_LIMIT = 50

/** Feedback on executions, and the executions that runs learn from. */
export function learningStore(table: Table): LearningStore {
  return {
    async giveFeedback({ organizationId, id, feedback, isReview = true, embedding = null, writer }) {
      const key = executionKey(id)
      const writtenAt = Date.parse(feedback.updatedAt)
      for (let tries = 1; tries <= MAX_TRIES; tries++) {
        const before = (await readRecord(table, id)) as (Item & ExecutionItem) | null
        if (before?.organizationId !== organizationId) return 'missing'
        if (before.status === 'IN_PROGRESS') return 'open'
        if (isRejection(feedback)) await dropResult(table, before)
        const target = { executionId: id, holder: key, writer: `feedback-${writer}-${tries}`, writtenAt }
        const stored = await storePayload(table, target, feedback)
        const { revision = 0 } = before
        const isOverReview = !isReview && before.feedback !== undefined && !before.feedbackIsNoReview
        const replaced = [isOverReview ? [] : before.feedback, isReview ? before.review : []].flat()
        for (const payload of replaced)
          if (payload && 'name' in payload) await scheduleCleanup(table, id, payload.name, writtenAt)
        const review = isReview ? stored : isOverReview ? before.feedback : before.review
        const lesson = toLesson(before, { feedback: stored, review }, embedding)
        const scored = scoreKeys(before, review)
        const set = {
          feedback: stored,
          feedbackBy: writer,
          feedbackIsNoReview: !isReview,
          revision: revision + 1,
          ...(isOverReview && { review: before.feedback }),
          ...lesson,
          ...scored.set,
        }
        const remove = [
          ...(isReview ? ['review'] : []),
          ...(lesson ? [] : LESSON_ATTRIBUTES),
          ...scored.remove,
        ]
        const updated = await table.update(key, { set, remove, condition: isAtRevision(revision) })
        const item = updated ?? (await readRecord(table, id))
        if (!item || item.feedbackBy === writer) {
          for (const payload of item ? replaced : [stored]) await deletePayload(table, id, payload)
          return (item && (await loadExecution(table, item))) ?? 'missing'
        }
        await deletePayload(table, id, stored)
      }
      throw new Unavailable(new Error(`The feedback of ${id} changed ${MAX_TRIES} times.`))
    },

    async listLessons({ limit, teachers, agentId, tenantId }) {
      const lessons: Item[] = []
      for (const isReview of teachers === 'all' ? [true, false] : [true]) {
        if (lessons.length === limit) break
        const pages = queryPages(table, {
          IndexName: 'lessons-of-agent',
          KeyConditionExpression: '#shard = :shard',
          ExpressionAttributeNames: { '#shard': INDEXES['lessons-of-agent'].partitionKey.name },
          ExpressionAttributeValues: { ':shard': lessonShard(agentId, tenantId, isReview) },
          ScanIndexForward: false,
          Limit: limit - lessons.length,
        })
        for await (const items of pages) {
          lessons.push(...items)
          if (lessons.length >= limit) break
        }
      }
      return lessons.slice(0, limit).map(fromLesson)
    },

    async listExamples({ limit, teachers, ...scope }) {
      const { items } = await listRecords(table, {
        index: 'executions-of-agent',
        shard: (shard) => agentShard(scope.agentId, shard),
        filter: isOfTenant(scope),
        queryLimit: QUERY_LIMIT,
        limit,
        after: null,
      })
      return toExamples(items, scope, teachers)
    },

    async getExamples({ ids, teachers, ...scope }) {
      const items = await table.getMany(ids.map(executionKey), { consistent: true })
      return toExamples(items, scope, teachers)
    },
  }
}

const LESSON_ATTRIBUTES = ['lesson', 'lessonShard', 'lessonOrder'] satisfies (keyof ExecutionItem)[]

/**
 * The attributes by which the index of rated executions lists it: as what the last review says, or, if that is no
 * example, what the last feedback says. Null if neither is.
 */
function toLesson(
  item: ExecutionItem,
  { feedback, review }: { feedback: StoredPayload; review: StoredPayload | undefined },
  embedding: Embedding | null,
): Pick<ExecutionItem, (typeof LESSON_ATTRIBUTES)[number]> | null {
  const { id, agentId, tenantId = null } = item
  const input = parseIfSmall(item, 'input', parseStoredJson)
  const byReview = review && exampleOf(item, review)
  const example = byReview ?? exampleOf(item, feedback)
  if (!input || !example) return null
  const described = describeMedia(input)
  return {
    lesson: {
      inputHash: hashJson(described),
      text: searchTextOf(described),
      ...(embedding
        ? { model: embedding.model, vector: new Uint8Array(embedding.vector) }
        : item.lesson && pick(item.lesson, ['model', 'vector'])),
    },
    lessonShard: lessonShard(agentId, tenantId, Boolean(byReview)),
    lessonOrder: lessonOrder(example.isCorrected, id),
  }
}

/** What the feedback makes of the execution; null if it is no example. */
function exampleOf(item: ExecutionItem, stored: StoredPayload): { isCorrected: boolean } | null {
  if (!isInline(stored) || item.source === 'TRIAL') return null
  const { rating, correctedOutput } = readInlinePayload(stored, executionKey(item.id), JSON.parse) as Feedback
  if (correctedOutput !== null)
    return Buffer.byteLength(JSON.stringify(correctedOutput)) <= MAX_EXAMPLE_BYTES
      ? { isCorrected: true }
      : null
  return rating === 1 && parseIfSmall(item, 'output', JSON.parse) ? { isCorrected: false } : null
}

function fromLesson(item: Item): Lesson {
  const { id, versionId, lessonOrder = '', lesson } = item as ExecutionItem
  const { inputHash = '', text = '', model, vector } = lesson ?? {}
  return {
    id,
    versionId,
    isCorrected: isCorrectedLesson(lessonOrder),
    inputHash,
    text,
    embedding: model && vector ? { model, vector: new Int8Array(vector) } : null,
  }
}

/**
 * Deletes the cache entry with the result of the execution, which may be the copy of another one. Before the feedback
 * is written: if that fails, nothing but a cached result is lost.
 */
async function dropResult(table: Table, { id, cachedExecutionId, cache }: ExecutionItem): Promise<void> {
  if (cache) await table.delete(cacheKey(cache.key), belongsTo(cachedExecutionId ?? id))
}

const isOfTenant = ({ tenantId }: LearningScope): Condition => ({
  expression: tenantId === null ? 'attribute_not_exists(#tenantId)' : '#tenantId = :tenantId',
  names: ['tenantId'],
  ...(tenantId !== null && { values: { tenantId } }),
})

function toExamples(items: Item[], scope: LearningScope, teachers: Teachers | undefined): Example[] {
  return items.flatMap((item) => toExample(item as ExecutionItem, scope, teachers) ?? [])
}

/** Null if the execution has no output, is outside the scope or too large. Does not read chunks. */
function toExample(
  item: ExecutionItem,
  { organizationId, agentId, tenantId }: LearningScope,
  teachers: Teachers = 'reviewers',
): Example | null {
  const isInScope =
    item.organizationId === organizationId && item.agentId === agentId && (item.tenantId ?? null) === tenantId
  if (!isInScope || item.deleted || item.status === 'IN_PROGRESS' || item.source === 'TRIAL') return null
  const stored = feedbackOf(item, teachers)
  if (stored && !isInline(stored)) return null
  const feedback = stored
    ? (readInlinePayload(stored, executionKey(item.id), parseStoredJson) as unknown as Feedback)
    : null
  const input = parseIfSmall(item, 'input', parseStoredJson)
  const output = feedback?.correctedOutput ?? parseIfSmall(item, 'output', JSON.parse)
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
    note: feedback?.note ?? null,
    cached: item.cached,
  }
}

function parseIfSmall(
  item: ExecutionItem,
  name: 'input' | 'output',
  parse: (text: string) => unknown,
): JsonObject | null {
  const payload = item[name]
  if (!payload || !isInline(payload) || payloadBytes(payload) > MAX_EXAMPLE_BYTES) return null
  return readInlinePayload(payload, executionKey(item.id), parse) as JsonObject
}

const MAX_EXAMPLE_BYTES = EXAMPLES_TOKENS * BYTES_PER_TOKEN
