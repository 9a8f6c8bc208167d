import { createHash, randomUUID } from 'node:crypto'
import type { CallResult, RecordedStep, Step, StepStore } from '../core/step.ts'
import { callKey, stepKey } from './table/keys.ts'
import { loadPayload, type StoredPayload, storePayload } from './table/payload.ts'
import { type Item, NOT_EXISTS, type Table } from './table/table.ts'

/** Checkpoints. Each is a separate item, so that a long run never rewrites earlier steps. */
export function stepStore(table: Table): StepStore {
  return {
    async append({ executionId, owner, step }) {
      const key = stepKey(executionId, step.number)
      const content = await storePayload(table, executionId, `step-${step.number}-${owner}`, step)
      const written = await table.put({ ...key, owner, content }, NOT_EXISTS)
      return written || (await table.get(key, { consistent: true }))?.owner === owner
    },

    async appendResult({ executionId, number, result }) {
      const call = createHash('sha256').update(result.callId).digest('hex').slice(0, 32)
      // Two workers may get different results for one call: each writes its own chunks.
      const name = `step-${number}-call-${call}-${randomUUID()}`
      const content = await storePayload(table, executionId, name, result)
      const key = callKey(executionId, number, call)
      if (await table.put({ ...key, content }, NOT_EXISTS)) return result
      const kept = await table.get(key, { consistent: true })
      return kept
        ? ((await loadPayload(table, executionId, kept.content as StoredPayload)) as CallResult)
        : result
    },

    async read({ executionId, from = 1, limit = Number.POSITIVE_INFINITY }) {
      const first = stepKey(executionId, from)
      const steps: RecordedStep[] = []
      let lastKey: Item | null = null
      do {
        const page: { items: Item[]; lastKey: Item | null } = await table.query({
          KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
          ExpressionAttributeValues: { ':pk': first.pk, ':first': first.sk, ':last': 'STEP#~' },
          ConsistentRead: true,
          ...(lastKey && { ExclusiveStartKey: lastKey }),
        })
        for (const item of page.items) {
          const isResult = String(item.sk).includes('#CALL#')
          if (!isResult && steps.length === limit) return steps
          const content = await loadPayload(table, executionId, item.content as StoredPayload)
          if (!isResult) steps.push({ step: content as Step, results: new Map() })
          else steps.at(-1)?.results.set((content as CallResult).callId, content as CallResult)
        }
        lastKey = page.lastKey
      } while (lastKey)
      return steps
    },
  }
}
