import { randomUUID } from 'node:crypto'
import { Unavailable } from '../../core/errors.ts'
import type { Progress } from '../../core/execution.ts'
import { parseStoredJson } from '../../core/json/parse-json.ts'
import type { CallResult, RecordedStep, Step, StepStore } from '../../core/step.ts'
import {
  callKey,
  executionIdOf,
  type Key,
  LIST_SHARDS,
  ownedShard,
  shardOf,
  stepKey,
  stepNumberOf,
} from '../table/keys.ts'
import { loadIfComplete, payloadBytes, type StoredPayload, storePayload } from '../table/payload.ts'
import { timeToLive } from '../table/retention.ts'
import { readShardedPage } from '../table/sharded-list.ts'
import { type Item, NOT_EXISTS, type Query, queryPages, type Table } from '../table/table.ts'
import { probe, toResponseItem } from './probe.ts'
import { packRequest, unpackRequest } from './request-item.ts'

/** Checkpoints. Each is a separate item, so that a long run never rewrites earlier steps. */
export function stepStore(table: Table): StepStore {
  return {
    async append({ executionId, owner, step, progress }) {
      const key = stepKey(executionId, step.number)
      const target = { executionId, holder: key, writer: owner, writtenAt: Date.parse(step.finishedAt) }
      const isOwn = async () => (await table.get(key, { consistent: true }))?.owner === owner
      try {
        const packed = packRequest(step)
        const content = await storePayload(table, target, packed.content)
        const item = { ...key, owner, content, progress, ...packed.attributes }
        return (await table.put(item, NOT_EXISTS)) || (await isOwn())
      } catch (error) {
        // It can be stored although no response arrived.
        if (error instanceof Unavailable && (await isOwn().catch(() => false))) return true
        throw error
      }
    },

    async appendResult({ executionId, number, result, decidedIn }) {
      const key = callKey(executionId, number, result.callId)
      const target = {
        executionId,
        holder: key,
        // Two workers may get different results of the same call.
        writer: randomUUID(),
        writtenAt: Date.parse(result.finishedAt),
        isPaced: true,
      }
      const content = await storePayload(table, target, result)
      const listed = decidedIn && {
        ownerShard: ownedShard(decidedIn, 'DECISION', shardOf(executionId, LIST_SHARDS)),
        listOrder: `${result.finishedAt}#${executionId}`,
      }
      if (await table.put({ ...key, content, ...listed }, NOT_EXISTS)) return result
      const kept = await table.get(key, { consistent: true })
      const stored = kept && (await loadIfComplete(table, key, kept.content as StoredPayload))
      return (stored as CallResult | null) ?? result
    },

    async listDecisions({ organizationId, ...page }) {
      const shard = (number: number) => ownedShard(organizationId, 'DECISION', number)
      const { items, next } = await readShardedPage(table, { index: 'owned-by-organization', shard, ...page })
      const decisions = items.map(({ pk, sk, listOrder }) => ({
        executionId: executionIdOf(String(pk)),
        number: stepNumberOf(String(sk)),
        decidedAt: String(listOrder).split('#')[0] ?? '',
      }))
      return { items: decisions, next }
    },

    async getProgress({ executionId }) {
      return (await readLast(table, executionId)).progress
    },

    async close({ executionId }) {
      for (let previous = -1; ; ) {
        const { number, progress, isClosed } = await readLast(table, executionId)
        if (isClosed) return progress
        // Something else has the key after the last step.
        if (number <= previous) throw new Error(`The journal of ${executionId} cannot be closed.`)
        previous = number
        if (await table.put({ ...stepKey(executionId, number + 1), isEnd: true }, NOT_EXISTS)) return progress
      }
    },

    async hasResult({ executionId, calls }) {
      const keys = calls.map(({ number, callId }) => callKey(executionId, number, callId))
      return (await table.getMany(keys, { consistent: true, attributes: [] })).length > 0
    },

    async read({ executionId }) {
      const steps: RecordedStep[] = []
      for await (const item of readItems(table, executionId, 1)) {
        if (!(await addTo(steps, table, item))) break
      }
      return steps
    },

    async list({ executionId, limit, after, maxBytes }) {
      const items: RecordedStep[] = []
      let bytes = 0
      const from = Number(after?.order ?? 0) + 1
      const endPage = (page: RecordedStep[]) => ({
        items: page,
        next: { order: String(page.at(-1)?.step.number) },
      })
      for await (const item of readItems(table, executionId, from)) {
        bytes += payloadBytes(item.content as StoredPayload)
        const isFull = bytes > maxBytes
        if (isResult(item)) {
          // The step whose results do not fit goes to the next page.
          if (isFull && items.length > 1) return endPage(items.slice(0, -1))
        } else if (items.length === limit || (isFull && items.length > 0)) return endPage(items)
        if (!(await addTo(items, table, item))) break
      }
      return { items, next: null }
    },

    probe: probe(table),

    async keepResponse({ executionId, response, keptMs }) {
      const item = await toResponseItem(executionId, response)
      if (item) await table.put({ ...item, ...timeToLive(Date.now() + keptMs) })
    },
  }
}

/** The number of the last step, 0 without one, and its progress. An item with `isEnd` after it closes the journal. */
async function readLast(table: Table, executionId: string) {
  const { items } = await table.query({ ...queryFrom(executionId, 1), ScanIndexForward: false, Limit: 1 })
  const [last] = items
  if (!last) return { number: 0, progress: null, isClosed: false }
  const isClosed = last.isEnd === true
  const number = stepNumberOf(String(last.sk)) - Number(isClosed)
  const isStep = !isClosed && !isResult(last)
  const step = isStep
    ? last
    : await table.get(stepKey(executionId, number), { consistent: true, attributes: ['progress'] })
  return { number, progress: (step?.progress as Progress | undefined) ?? null, isClosed }
}

const isResult = ({ sk }: Item): boolean => String(sk).includes('#CALL#')

/** False if the content of a step is missing: the journal is closed, the step deleted, or its writer lost the lease. */
async function addTo(steps: RecordedStep[], table: Table, item: Item): Promise<boolean> {
  if (!item.content) return false
  // The data of a signal keeps its digits.
  const parse = isResult(item) && steps.at(-1)?.step.kind === 'WAIT' ? parseStoredJson : undefined
  const content = await loadIfComplete(table, item as Item & Key, item.content as StoredPayload, parse)
  if (!isResult(item)) {
    if (content) steps.push({ step: unpackRequest(content as Step, item), results: new Map() })
    return content !== null
  }
  if (content) steps.at(-1)?.results.set((content as CallResult).callId, content as CallResult)
  return true
}

function queryFrom(executionId: string, number: number): Query {
  const first = stepKey(executionId, number)
  return {
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
    ExpressionAttributeValues: { ':pk': first.pk, ':first': first.sk, ':last': 'STEP#~' },
    ConsistentRead: true,
  }
}

/** The items of the steps from a number on, each step followed by its results. */
async function* readItems(table: Table, executionId: string, from: number): AsyncGenerator<Item> {
  for await (const items of queryPages(table, queryFrom(executionId, from))) yield* items
}
