import { promisify } from 'node:util'
import { gunzipSync, gzip } from 'node:zlib'
import type { ResponseSoFar, StepStore } from '../../core/step.ts'
import { callKey, executionKey, type Key, responseKey, stepKey } from '../table/keys.ts'
import type { Item, Table } from '../table/table.ts'
import type { ExecutionItem } from './execution-item.ts'

const compress = promisify(gzip)

/** A larger one is not kept: its readers wait for the step. */
const MAX_COMPRESSED_BYTES = 100_000

/** More than the JSON of the largest response that is shown. */
const MAX_BYTES = 8_000_000

const RESPONSE_ATTRIBUTES = ['step', 'try', 'isVoid', 'parts']

/** Compressed in the thread pool: the run goes on. Null for a response that is too large. */
export async function toResponseItem(executionId: string, response: ResponseSoFar): Promise<Item | null> {
  const parts = await compress(JSON.stringify(response.parts))
  return parts.length > MAX_COMPRESSED_BYTES ? null : { ...responseKey(executionId), ...response, parts }
}

/** Null without an item, and for one that another release has written. */
function fromResponseItem(item: Item | undefined): ResponseSoFar | null {
  if (!(item?.parts instanceof Uint8Array)) return null
  try {
    const parts = JSON.parse(gunzipSync(item.parts, { maxOutputLength: MAX_BYTES }).toString())
    return { step: Number(item.step), try: Number(item.try), isVoid: item.isVoid === true, parts }
  } catch {
    return null
  }
}

/** Fits one request, with the record, the next step and the present response. */
const MAX_CALLS = 97

/** What a reader that follows the present response needs. */
const LIVE = ['watchedUntil', ...RESPONSE_ATTRIBUTES]

/** Reads no content: of the record its status, of the rest whether it exists. */
export const probe =
  (table: Table): StepStore['probe'] =>
  async ({ organizationId, id, end: { number, pendingCalls }, withResponse = false }) => {
    const record = executionKey(id)
    const calls = pendingCalls.slice(0, MAX_CALLS).map((callId) => callKey(id, number, callId))
    const response = responseKey(id)
    const keys = [record, stepKey(id, number + 1), ...(withResponse ? [response] : []), ...calls]
    const found = await table.getMany(keys, {
      consistent: true,
      attributes: ['organizationId', 'status', 'suspension', 'deleted', ...(withResponse ? LIVE : [])],
    })
    const isRecord = ({ sk }: Partial<Key>) => sk === record.sk
    const isKept = ({ sk }: Partial<Key>) => sk === response.sk
    const execution = found.find(isRecord) as (ExecutionItem & Key) | undefined
    const isVisible = execution?.organizationId === organizationId && !execution.deleted
    return {
      status: isVisible ? execution.status : null,
      suspension: (isVisible && execution.suspension) || null,
      hasMore: found.some((item) => !isRecord(item) && !isKept(item)),
      ...(withResponse && {
        live: {
          response: (isVisible && fromResponseItem(found.find(isKept))) || null,
          watchedUntil: (isVisible && execution.watchedUntil) || 0,
        },
      }),
    }
  }
