import { createHash } from 'node:crypto'
import type { StepStore } from '../core/step.ts'
import type { ExecutionItem } from './execution-item.ts'
import { callKey, executionKey, type Key, stepKey } from './table/keys.ts'
import type { Table } from './table/table.ts'

/** Fits one request, with the record and the next step. */
const MAX_CALLS = 98

/** Reads no content: of the record its status, of the rest whether it exists. */
export const probe =
  (table: Table): StepStore['probe'] =>
  async ({ organizationId, id, end: { number, pendingCalls } }) => {
    const record = executionKey(id)
    const calls = pendingCalls.slice(0, MAX_CALLS).map((callId) => callKey(id, number, hashCallId(callId)))
    const keys = [record, stepKey(id, number + 1), ...calls]
    const found = await table.getMany(keys, {
      consistent: true,
      attributes: ['organizationId', 'status', 'deleted'],
    })
    const isRecord = ({ sk }: Partial<Key>) => sk === record.sk
    const execution = found.find(isRecord) as (ExecutionItem & Key) | undefined
    const isVisible = execution?.organizationId === organizationId && !execution.deleted
    return { status: isVisible ? execution.status : null, hasMore: found.some((item) => !isRecord(item)) }
  }

/** A model chose the call id, which may not fit a key. */
export const hashCallId = (callId: string): string =>
  createHash('sha256').update(callId).digest('hex').slice(0, 32)
