import { createHash, randomUUID } from 'node:crypto'
import type { CallResult, RecordedStep, Step, StepStore } from '../core/step.ts'
import { callKey, stepKey } from './table/keys.ts'
import { loadIfComplete, payloadBytes, type StoredPayload, storePayload } from './table/payload.ts'
import { type Item, NOT_EXISTS, type Table } from './table/table.ts'

/** Checkpoints. Each is a separate item, so that a long run never rewrites earlier steps. */
export function stepStore(table: Table): StepStore {
  return {
    async append({ executionId, owner, step }) {
      const key = stepKey(executionId, step.number)
      const target = { executionId, holder: key, writer: owner, writtenAt: Date.parse(step.finishedAt) }
      const content = await storePayload(table, target, step)
      const written = await table.put({ ...key, owner, content }, NOT_EXISTS)
      return written || (await table.get(key, { consistent: true }))?.owner === owner
    },

    async appendResult({ executionId, number, result }) {
      const call = createHash('sha256').update(result.callId).digest('hex').slice(0, 32)
      const key = callKey(executionId, number, call)
      const target = {
        executionId,
        holder: key,
        // Two workers may get different results of the same call.
        writer: randomUUID(),
        writtenAt: Date.parse(result.finishedAt),
      }
      const content = await storePayload(table, target, result)
      if (await table.put({ ...key, content }, NOT_EXISTS)) return result
      const kept = await table.get(key, { consistent: true })
      const stored = kept && (await loadIfComplete(table, executionId, kept.content as StoredPayload))
      return (stored as CallResult | null) ?? result
    },

    async read({ executionId }) {
      const steps: RecordedStep[] = []
      for await (const item of readItems(table, executionId, 1)) {
        if (!(await addTo(steps, table, executionId, item))) break
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
        if (!(await addTo(items, table, executionId, item))) break
      }
      return { items, next: null }
    },
  }
}

const isResult = ({ sk }: Item): boolean => String(sk).includes('#CALL#')

/** False if the content of a step is missing: it was deleted, or written by a worker that had lost its lease. */
async function addTo(steps: RecordedStep[], table: Table, executionId: string, item: Item): Promise<boolean> {
  const content = await loadIfComplete(table, executionId, item.content as StoredPayload)
  if (!isResult(item)) {
    if (content) steps.push({ step: content as Step, results: new Map() })
    return content !== null
  }
  if (content) steps.at(-1)?.results.set((content as CallResult).callId, content as CallResult)
  return true
}

/** The items of the steps from a number on, each step followed by its results. */
async function* readItems(table: Table, executionId: string, from: number): AsyncGenerator<Item> {
  const first = stepKey(executionId, from)
  let lastKey: Item | null = null
  do {
    const page: { items: Item[]; lastKey: Item | null } = await table.query({
      KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
      ExpressionAttributeValues: { ':pk': first.pk, ':first': first.sk, ':last': 'STEP#~' },
      ConsistentRead: true,
      ...(lastKey && { ExclusiveStartKey: lastKey }),
    })
    yield* page.items
    lastKey = page.lastKey
  } while (lastKey)
}
