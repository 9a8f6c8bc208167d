import { createHash } from 'node:crypto'
import { type ExecutionReference, resolveExecutionId } from '../../access/executions.ts'
import { isMacOf } from '../../core/callback-mac.ts'
import { BY_RECEIPT, type PageQuery, parsePage } from '../../core/cursor.ts'
import { ServiceError } from '../../core/errors.ts'
import { type ExecutionSummary, isFinal } from '../../core/execution.ts'
import { isUuid } from '../../core/ids.ts'
import { hashJson } from '../../core/json/hash-json.ts'
import type { Json } from '../../core/json/json.ts'
import { TooManyUnreadSignals } from '../../core/limit-errors.ts'
import {
  MAX_ESCAPED_PAGE_BYTES,
  MAX_PAGE_BYTES,
  MAX_PAYLOAD_BYTES,
  MAX_SIGNAL_BYTES,
  SIGNAL_RECOUNT_MS,
} from '../../core/limits.ts'
import type { Page } from '../../core/ports/system.ts'
import { InputSchemaMismatch, PayloadTooLarge } from '../../core/request-errors.ts'
import { ExecutionEnded, ExecutionNotFound } from '../../core/resource-errors.ts'
import { isSignalName, SIGNAL_NAME_RULE, type Signal } from '../../core/wait.ts'
import { type Engine, isoNow } from '../engine.ts'
import { assertResult, isCallbackName } from './remote-result.ts'
import { sendWake, usedSignals } from './wake.ts'

type Stores = Pick<Engine, 'executions' | 'queue' | 'signals' | 'steps' | 'system' | 'times'>

type NewSignal = { name: string; data: Json; idempotencyKey?: string | undefined; maxBytes?: number }

/** What a sender learns. */
export type SentSignal = { executionId: string; id: string }

/**
 * Keeps data for an execution until a wait takes it, and resumes it if it is suspended on this name.
 * @throws ExecutionNotFound, ExecutionEnded, PayloadTooLarge, InputSchemaMismatch, IdempotencyKeyReused,
 * TooManyUnreadSignals; ServiceError `BadRequest` for a name that no signal can have; Unavailable
 */
export async function sendSignal(
  stores: Stores,
  { name, data, idempotencyKey, ...reference }: NewSignal & ExecutionReference,
): Promise<SentSignal> {
  if (!isSignalName(name)) throw new ServiceError('BadRequest', SIGNAL_NAME_RULE)
  const id = await resolveExecutionId(stores.executions, reference)
  const { organizationId } = reference.access
  const find = () => stores.executions.getSummary({ organizationId, id })
  return deliver(stores, find, { name, data, idempotencyKey })
}

/**
 * The same for a callback, whose MAC stands for the token. An execution that has ended is one that does not exist,
 * except for a remote agent: it may repeat the delivery of its result.
 * @throws as `sendSignal`; ExecutionEnded only for a remote agent
 */
export async function sendCallback(
  stores: Stores,
  { executionId, mac, ...signal }: NewSignal & { executionId: string; mac: string },
): Promise<SentSignal> {
  const isResult = isCallbackName(signal.name)
  if (!isUuid(executionId) || !(isResult || isSignalName(signal.name))) throw new ExecutionNotFound()
  const id = executionId.toLowerCase()
  const find = async () => {
    const execution = await stores.executions.getForCallback({ id })
    const isOpen = execution && (isResult || !isFinal(execution))
    return isOpen && isMacOf(execution, signal.name, mac) ? execution : null
  }
  if (!isResult) return deliver(stores, find, signal)
  assertFound(await find())
  assertResult(signal.data)
  // A round has one result.
  return deliver(stores, find, { ...signal, idempotencyKey: 'result', maxBytes: MAX_PAYLOAD_BYTES })
}

/**
 * Stores first and reads the state then: a worker that suspends the execution writes first and reads the signals then,
 * so that one of the two sees the other. No end was visible before the answer, unless a wait has taken the signal.
 */
async function deliver(
  stores: Stores,
  find: () => Promise<ExecutionSummary | null>,
  { name, data, idempotencyKey, maxBytes = MAX_SIGNAL_BYTES }: NewSignal,
): Promise<SentSignal> {
  const { signals, steps, system } = stores
  const bytes = Buffer.byteLength(JSON.stringify(data))
  if (bytes > maxBytes)
    throw new PayloadTooLarge(`The data of a signal may have at most ${maxBytes} bytes of JSON.`)
  const execution = assertFound(await find())
  const executionId = execution.id
  const own = { name, data, bytes, receivedAt: isoNow(system) }
  const signal: Signal =
    idempotencyKey === undefined
      ? { id: system.newId(), ...own }
      : { id: signalIdOf(executionId, name, idempotencyKey), ...own, dataHash: hashJson(data) }
  let known = signal.dataHash ? await signals.find({ executionId, id: signal.id }) : null
  if (!known) {
    if (isFinal(execution)) throw new ExecutionEnded(executionId)
    await assertExpected(stores, execution, name, data)
    await admit(stores, executionId, bytes)
    known = await signals.put({ executionId, signal })
  }
  if (known.dataHash !== signal.dataHash) throw new ServiceError('IdempotencyKeyReused', KEY_REUSED)
  const current = assertFound(await find())
  const isExpected = current.suspension?.waits.some(({ signals }) => signals?.includes(name))
  if (isFinal(current)) {
    if (!usedSignals(await steps.read({ executionId })).has(signal.id)) throw new ExecutionEnded(executionId)
  } else if (isExpected ?? true) await sendWake(stores, current)
  return { executionId, id: signal.id }
}

const KEY_REUSED =
  'This Idempotency-Key was used with other data for a signal of this name to this execution. Use a new key.'

const signalIdOf = (executionId: string, name: string, key: string): string =>
  createHash('sha256').update(`${executionId}\n${name}\n${key}`).digest('hex').slice(0, 32)

/** @throws ExecutionNotFound */
function assertFound(execution: ExecutionSummary | null): ExecutionSummary {
  if (!execution) throw new ExecutionNotFound()
  return execution
}

/** If the execution is suspended on this name, one of its waits has to accept the data. @throws InputSchemaMismatch */
async function assertExpected(
  { steps }: Stores,
  { id: executionId, suspension }: ExecutionSummary,
  name: string,
  data: Json,
): Promise<void> {
  const waits = suspension?.waits.filter(({ signals }) => signals?.includes(name)) ?? []
  const schemas = await Promise.all(
    waits.map(async ({ step: number = 1 }) => {
      const position = { limit: 1, after: { order: String(number - 1) } }
      const { items } = await steps.list({ executionId, maxBytes: MAX_PAGE_BYTES, ...position })
      const step = items[0]?.step
      return step?.kind === 'WAIT' && step.wait.kind === 'signal' ? step.wait.schema : undefined
    }),
  )
  const [first, ...others] = schemas
  if (!first || others.includes(undefined)) return
  // Loaded on demand: most waits have no schema.
  const { compileValidator } = await import('../../schema/validate/validate.ts')
  const violations = [first, ...others].map((schema) => {
    try {
      return schema ? compileValidator(schema)(data) : []
    } catch {
      // The schema is not valid: the run ends when it takes the signal.
      return []
    }
  })
  if (violations.every(({ length }) => length > 0)) throw new InputSchemaMismatch(violations[0] ?? [])
}

/** @throws TooManyUnreadSignals */
async function admit({ signals, steps, system }: Stores, executionId: string, bytes: number): Promise<void> {
  for (let hasCounted = false; ; hasCounted = true) {
    const count = await signals.admit({ executionId, bytes })
    if (count === 'admitted') return
    const now = system.now()
    const last = count === 'unknown' ? null : count
    if (hasCounted || (last && now - last.countedAt < SIGNAL_RECOUNT_MS)) throw new TooManyUnreadSignals()
    const kept = await signals.measure({ executionId })
    const used = usedSignals(await steps.read({ executionId }))
    const unread = kept.filter(({ id }) => !used.has(id))
    const total = unread.reduce((sum, signal) => sum + signal.bytes, 0)
    await signals.recount({
      executionId,
      last,
      unread: { count: unread.length, bytes: total, countedAt: now },
    })
  }
}

/**
 * A page of the signals that no wait of the execution has used, oldest first. It ends early if their data is large.
 * @throws ExecutionNotFound, InvalidCursor
 */
export async function listSignals(
  { executions, signals, steps }: Pick<Stores, 'executions' | 'signals' | 'steps'>,
  reference: ExecutionReference,
  query: PageQuery,
): Promise<Page<Signal>> {
  const { limit, after } = parsePage(query, BY_RECEIPT)
  const { organizationId } = reference.access
  const id = await resolveExecutionId(executions, reference)
  if (!(await executions.getStatus({ organizationId, id }))) throw new ExecutionNotFound()
  const kept = await signals.list({ executionId: id })
  const used = kept.length > 0 ? usedSignals(await steps.read({ executionId: id })) : new Set()
  const unread = kept.filter((signal) => !used.has(signal.id) && (!after || orderOf(signal) > after.order))
  let bytes = 0
  const items = unread.slice(0, limit).filter((signal) => {
    bytes += signal.bytes
    return bytes <= MAX_ESCAPED_PAGE_BYTES
  })
  const last = items.at(-1)
  return { items, next: last && items.length < unread.length ? { order: orderOf(last) } : null }
}

const orderOf = ({ receivedAt, id }: Signal): string => `${receivedAt}#${id}`
