import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { Unavailable } from '../../core/errors.ts'
import type {
  BatchLine,
  Execution,
  ExecutionSummary,
  Feedback,
  InputAdaptation,
} from '../../core/execution.ts'
import type { ExecutionError } from '../../core/execution-errors.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { parseStoredJson } from '../../core/json/parse-json.ts'
import type { Teachers } from '../../core/learning.ts'
import { totalUsage } from '../../core/model-usage.ts'
import { toScoredEntry } from '../../core/run-score.ts'
import type { Judgement } from '../../core/trial.ts'
import type { ScoredEntry } from '../../core/usage.ts'
import { needsApproval } from '../../core/wait.ts'
import { MissingChunk } from '../table/chunks.ts'
import {
  activePrefix,
  activeShard,
  agentShard,
  executionKey,
  isOutboxShard,
  LIST_SHARDS,
  OPEN_SHARDS,
  openShard,
  ownedShard,
  STATUS_SHARDS,
  type StatusKey,
  shardOf,
  statusShard,
  tenantShard,
  timerShardOf,
  USAGE_SHARDS,
  usageShard,
} from '../table/keys.ts'
import { loadPayload, type StoredPayload, storePayload } from '../table/payload.ts'
import { orCorrupt, readText, type StoredText, toStoredText } from '../table/stored-text.ts'
import type { Item, Table } from '../table/table.ts'

type PlainField = Exclude<keyof ExecutionSummary, 'batch' | 'error' | 'lastError' | 'judgement' | 'lease'>

/**
 * The fields that are stored as they are, each with the value that a missing attribute stands for; undefined if it is
 * never missing. Items, records and the attributes of summaries derive from this.
 */
const PLAIN_FIELDS = {
  id: undefined,
  organizationId: undefined,
  agentId: undefined,
  versionId: undefined,
  tenantId: null,
  // Bytes of a line count: its record is written three times.
  source: 'BATCH',
  replay: null,
  replayedUsage: null,
  selectedBy: 'CURRENT',
  schedule: null,
  scored: null,
  scores: [],
  tokenId: null,
  parentExecutionId: null,
  limits: [],
  isDraft: false,
  webhookUrl: null,
  traceparent: null,
  keys: [],
  callers: [],
  sharesWorker: false,
  status: undefined,
  cached: undefined,
  cachedExecutionId: null,
  createdAt: undefined,
  startedAt: null,
  finishedAt: null,
  steps: undefined,
  usage: undefined,
  model: null,
  options: undefined,
  learnedFrom: null,
  warnings: [],
  attempts: undefined,
  attemptsSinceProgress: undefined,
  outages: 0,
  lostSteps: [],
  lostUsage: null,
  childUsage: null,
  suspension: null,
  waitedMs: 0,
  workedMs: 0,
  watchedUntil: null,
  pendingEvents: [],
  callbackSecret: null,
  openUntil: null,
  deadlineAt: undefined,
  idempotencyId: null,
  cache: null,
} satisfies {
  [Name in PlainField]: null extends ExecutionSummary[Name] ? null : ExecutionSummary[Name] | undefined
}

type RequiredField = {
  [Name in PlainField]: (typeof PLAIN_FIELDS)[Name] extends undefined ? Name : never
}[PlainField]
type OptionalField = Exclude<PlainField, RequiredField>

/** The stored record of an execution. Payloads are stored by value or by reference; null is an absent attribute. */
export type ExecutionItem = Pick<ExecutionSummary, RequiredField> & {
  [Name in OptionalField]?: NonNullable<ExecutionSummary[Name]>
} & {
  /** See `storeLine`. */
  batch?: Uint8Array
  input: StoredPayload
  output?: StoredPayload
  inputAdaptations?: StoredPayload
  /** JSON */
  error?: StoredText
  /** JSON */
  lastError?: StoredText
  /** JSON: its values can be what a map cannot hold. */
  judgement?: StoredText
  leaseOwner?: string
  leaseExpiresAt?: number
  openShard?: string
  logs?: StoredText
  /** The worker that finished it. Shows a worker whose write was repeated that its own write succeeded. */
  finishedBy?: string
  feedback?: StoredPayload
  /** The writer of `feedback`, so that a write whose response was lost is recognized. */
  feedbackBy?: string
  /** Whether `feedback` was given by a token that may not teach. */
  feedbackIsNoReview?: boolean
  /** The last review, if `feedback` is a later one that is none. */
  review?: StoredPayload
  /** What the index of rated executions shows of it; absent if it cannot be an example. */
  lesson?: LessonItem
  statusShard?: string
  lessonShard?: string
  lessonOrder?: string
  /** Counts changes of a final record. */
  revision?: number
  /** The index keys of a final execution, by which it is counted. */
  usageShard?: string
  usageAt?: number
  /** What the index shows of `error`: see `readUsageCode`. */
  errorCode?: string
  /** Only in the tombstone of a deleted execution. */
  deleted?: true
}

/** The last feedback that counts. */
export const feedbackOf = (
  { feedback, feedbackIsNoReview, review }: ExecutionItem,
  teachers: Teachers,
): StoredPayload | undefined => (teachers === 'all' || !feedbackIsNoReview ? feedback : review)

/** `model` and `vector`: the embedding of the input. */
export type LessonItem = { inputHash: string; text: string; model?: string; vector?: Uint8Array }

/** What `toSummary` reads. */
export const SUMMARY_ATTRIBUTES: string[] = [
  ...Object.keys(PLAIN_FIELDS),
  ...([
    'batch',
    'error',
    'lastError',
    'judgement',
    'leaseOwner',
    'leaseExpiresAt',
    'openShard',
  ] satisfies (keyof ExecutionItem)[]),
]

const PLAIN_ENTRIES = Object.entries(PLAIN_FIELDS) as [PlainField, unknown][]

export function toSummary(item: ExecutionItem): ExecutionSummary {
  const { batch, error, lastError, judgement, leaseOwner, leaseExpiresAt, openShard } = item
  const plain = {} as Record<string, unknown>
  for (const [name, missing] of PLAIN_ENTRIES) plain[name] = item[name] ?? missing
  const fields = plain as Pick<ExecutionSummary, PlainField>
  return {
    ...fields,
    ...(isOutboxShard(openShard) && { openUntil: null }),
    batch: batch ? readLine(batch) : null,
    usage: totalUsage(fields),
    error: parseError(error, fields.id),
    lastError: parseError(lastError, fields.id),
    judgement: parseText<Judgement>(judgement, fields.id),
    lease: leaseOwner && leaseExpiresAt ? { owner: leaseOwner, expiresAt: leaseExpiresAt } : null,
  }
}

export async function toItem(table: Table, execution: Execution): Promise<Item> {
  const { input, inputAdaptations, output, feedback, batch, lease, ...others } = execution
  const { error, lastError, judgement, logs, ...plain } = others
  const { id } = plain
  const key = executionKey(id)
  const writtenAt = Date.parse(execution.createdAt)
  const store = (name: string, value: unknown) =>
    storePayload(table, { executionId: id, holder: key, writer: `${name}-${randomUUID()}`, writtenAt }, value)
  return {
    ...key,
    ...listKeys(execution),
    ...(execution.status === 'IN_PROGRESS' && openKeys(execution)),
    ...withoutMissing(plain),
    batch: batch ? storeLine(batch) : undefined,
    input: await store('input', input),
    output: output ? await store('output', output) : undefined,
    inputAdaptations: inputAdaptations.length > 0 ? await store('adaptations', inputAdaptations) : undefined,
    feedback: feedback ? await store('feedback', feedback) : undefined,
    error: error ? storeError(error) : undefined,
    lastError: lastError ? storeError(lastError) : undefined,
    judgement: judgement ? storeJudgement(judgement) : undefined,
    logs: logs === null ? undefined : toStoredText(logs),
    leaseOwner: lease?.owner,
    leaseExpiresAt: execution.suspension ? NEVER_EXPIRES : lease?.expiresAt,
  }
}

/** The index keys of lists. Trials have thousands of lines and scores, which would displace other executions. */
function listKeys({ id, organizationId, agentId, tenantId, source, batch, scored }: Execution): Item {
  const shard = shardOf(id, LIST_SHARDS)
  const trialId = source === 'TRIAL' ? batch?.id : scored?.trial?.id
  if (trialId !== undefined) return { agentShard: agentShard(trialId, shard), listOrder: id }
  return {
    ownerShard: ownedShard(organizationId, 'EXEC', shard),
    agentShard: agentShard(agentId, shard),
    tenantShard: tenantId === null ? undefined : tenantShard(organizationId, tenantId, shard),
    listOrder: id,
  }
}

/** 16 bytes of the batch's id, 2 of the line, 2 of the lane, and `customId`: a quarter of what a map would take. */
const storeLine = ({ id, line, lane, customId }: BatchLine): Uint8Array => {
  const numbers = Buffer.alloc(4)
  numbers.writeUInt16BE(line)
  numbers.writeUInt16BE(lane, 2)
  return Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), numbers, Buffer.from(customId)])
}

function readLine(stored: Uint8Array): BatchLine {
  const bytes = Buffer.from(stored)
  const id = bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  return {
    id,
    customId: bytes.toString('utf8', 20),
    line: bytes.readUInt16BE(16),
    lane: bytes.readUInt16BE(18),
  }
}

/** Of a suspended execution, which nobody holds: no claim succeeds, whichever release makes it. */
export const NEVER_EXPIRES = Number.MAX_SAFE_INTEGER

/** The index keys of an open execution. */
export function openKeys(execution: Pick<Execution, 'id' | 'organizationId' | 'suspension'>): Item {
  const { id, organizationId, suspension } = execution
  if (!suspension)
    return {
      activeShard: activeShard(organizationId, shardOf(id, STATUS_SHARDS)),
      activeOrder: `${activePrefix(organizationId)}${id}`,
    }
  const status = needsApproval(suspension.waits) ? 'WAITING-APPROVAL' : 'WAITING'
  return { openShard: timerShardOf(id), statusShard: statusKey(execution, status) }
}

/** The index key of a final execution from whose end something follows. */
export const listedKeys = (id: string): Item => ({ openShard: openShard(shardOf(id, OPEN_SHARDS)) })

/** What enters a final execution into the usage index. */
export function usageKeys({
  id,
  endedAt,
  error,
  output = null,
  ...run
}: {
  id: string
  /** Milliseconds since the epoch. */
  endedAt: number
  error: ExecutionError | null
  output?: JsonObject | null | undefined
} & Partial<Pick<Execution, 'source' | 'scored'>>): Item {
  const scored = toScoredEntry(run, output)
  const code = error?.code ?? ''
  const prefix = scored ? `SCORE#${JSON.stringify(scored)}#` : run.source === 'TRIAL' ? TRIAL_PREFIX : ''
  return {
    usageShard: usageShard(shardOf(id, USAGE_SHARDS)),
    usageAt: endedAt,
    errorCode: `${prefix}${code}` || undefined,
  }
}

/** The index shows no source, and nothing of the run that a scorer has scored: it has what it was created with. */
const TRIAL_PREFIX = 'TRIAL#'

/** What the usage index shows of the end. */
export function readUsageCode({ errorCode = '' }: Pick<ExecutionItem, 'errorCode'>) {
  const isTrial = errorCode.startsWith(TRIAL_PREFIX)
  const [, json, scoredCode] = /^SCORE#(\{.*\})#(.*)$/s.exec(errorCode) ?? []
  const code = scoredCode ?? (isTrial ? errorCode.slice(TRIAL_PREFIX.length) : errorCode)
  return { isTrial, errorCode: code || null, ...(json && { scored: JSON.parse(json) as ScoredEntry }) }
}

/** The key under which the lists of an organization show an open or failed execution. */
export const statusKey = (
  { organizationId, id }: Pick<Execution, 'organizationId' | 'id'>,
  status: StatusKey,
): string => statusShard(organizationId, status, shardOf(id, STATUS_SHARDS))

/** Whether an item of the execution refers to the payload with this name. */
export function refersTo(item: Item | null, name: string): boolean {
  const { input, output, inputAdaptations, feedback, review, content } = item ?? {}
  const payloads = [input, output, inputAdaptations, feedback, review, content]
  return payloads.some((payload) => (payload as { name?: string } | undefined)?.name === name)
}

/** @throws MissingChunk */
async function fromItem(table: Table, stored: Item): Promise<Execution> {
  const item = stored as ExecutionItem
  const key = executionKey(item.id)
  const load = loadPayload.bind(null, table, key)
  const [input, output, feedback, inputAdaptations] = await Promise.all([
    load(item.input, parseStoredJson),
    item.output ? load(item.output) : null,
    item.feedback ? load(item.feedback, parseStoredJson) : null,
    item.inputAdaptations ? load(item.inputAdaptations) : [],
  ])
  return {
    ...toSummary(item),
    input: input as JsonObject,
    inputAdaptations: inputAdaptations as InputAdaptation[],
    output: output as JsonObject | null,
    feedback: feedback as Feedback | null,
    logs: item.logs === undefined ? null : readText(item.logs, key),
  }
}

export const storeError = (error: ExecutionError): StoredText => toStoredText(JSON.stringify(error))

export const storeJudgement = (judgement: Judgement): StoredText => toStoredText(JSON.stringify(judgement))

export const parseError = (stored: StoredText | undefined, id: string): ExecutionError | null =>
  parseText(stored, id)

function parseText<T>(stored: StoredText | undefined, id: string): T | null {
  if (stored === undefined) return null
  const key = executionKey(id)
  const json = readText(stored, key)
  return orCorrupt(key, () => JSON.parse(json))
}

/** Without the values that missing attributes stand for. */
function withoutMissing(fields: object): Item {
  const missing: Item = PLAIN_FIELDS
  const item: Item = {}
  for (const [name, value] of Object.entries(fields))
    if (!isMissing(value, missing[name] ?? null)) item[name] = value
  return item
}

/** A value that is never missing, and the empty list, are the only ones that are not primitive. */
const isMissing = (value: unknown, missing: unknown): boolean =>
  value === missing || (Array.isArray(missing) && Array.isArray(value) && value.length === 0)

export function withoutNulls(item: Item): Item {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null))
}

const MAX_READS = 5

/** The record; null if the execution does not exist or was deleted. */
export async function readRecord(table: Table, id: string): Promise<Item | null> {
  const item = await table.get(executionKey(id), { consistent: true })
  return item && !item.deleted ? item : null
}

/**
 * The execution of a record, with its payloads. When a chunk is missing, a payload has been replaced or deleted since
 * the record was read, so the record is read again. Null if the execution was deleted.
 * @throws Unavailable when payloads are replaced faster than they can be read
 */
export async function loadExecution(table: Table, record: Item): Promise<Execution | null> {
  let current: Item | null = record
  for (let reads = 0; current && reads < MAX_READS; reads++) {
    try {
      return await fromItem(table, current)
    } catch (error) {
      if (!(error instanceof MissingChunk)) throw error
      const previous: Item = current
      current = await readRecord(table, String(record.id))
      if (isDeepStrictEqual(current, previous)) return null
    }
  }
  if (current) throw new Unavailable(new Error(`The payloads of ${record.id} changed ${MAX_READS} times.`))
  return null
}
