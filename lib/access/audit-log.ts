import { setTimeout as sleep } from 'node:timers/promises'
import type { Access } from '../core/access.ts'
import type { Version } from '../core/agent.ts'
import { type AuditEntry, type AuditTarget, STARTING, type StartedChange } from '../core/audit.ts'
import { toChanges, toShown } from '../core/audit-request.ts'
import { BY_ID, type PageQuery, parsePage } from '../core/cursor.ts'
import { ServiceError, Unavailable } from '../core/errors.ts'
import { derivedId, isUuid, timeOfId } from '../core/ids.ts'
import { DAY_MS } from '../core/limits.ts'
import type { AuditFilter, AuditStore } from '../core/ports/access.ts'
import type { Page, System } from '../core/ports/system.ts'
import { type Environment, readSetting } from '../environment.ts'
import { describeCause, logger } from '../logger.ts'
import { assertAllAgents } from './permissions.ts'

/** Adds to an entry what only the change knows: members that its action shows, and what was created. */
export type Note = (added: Added) => void
type Added = { target?: Partial<AuditTarget> } & Record<string, unknown>

/**
 * Stores the entry of a change of `STARTING`, before what it starts is stored with this id. Requests with the same
 * idempotency key start the same, and have one entry, also if they arrive at the same time.
 */
export type Begin = (startedId: string, added: Added) => Promise<void>

/** `changes`: members that are given, of which the entry gets those that its action shows. */
export type Described = Omit<StartedChange, 'changes'> & { changes: Record<string, unknown> }

type Parts = {
  audit: AuditStore
  system: System
  /** Whether the outbox tells the event bus of it: by default, if there is one. */
  isMarked?: boolean
}

/** How long a change that has been made waits for its result to be stored. */
const MAX_RESULT_MS = 2_000

/**
 * Makes a change and records it: that it starts, before it, and what became of it, after it. It is not made if the
 * first of these cannot be stored. An entry whose result cannot be stored stays `STARTED`. A change of `STARTING` that
 * succeeds has an entry if it began one: otherwise, an earlier request has started the same.
 * @throws Unavailable if the start could not be stored; what the change throws
 */
export async function audited<T>(
  { audit, system, isMarked = Boolean(readSetting('eventBus')) }: Parts,
  { changes: given, ...described }: Described,
  change: (note: Note, begin: Begin) => Promise<T>,
): Promise<T> {
  const { action } = described
  // The time in the id: lists compare `from` and `to` with it.
  const identify = (id: string) => ({ id, at: new Date(timeOfId(id)).toISOString() })
  let entry: AuditEntry = {
    ...described,
    ...identify(system.newId()),
    changes: toChanges(action, given),
    result: 'STARTED',
  }
  let hasBegun = false
  // False: the SDK has repeated a request whose response was lost, or another request starts the same.
  const store = async () => {
    const isNew = await audit.begin({ entry, isMarked }).catch((error: unknown) => {
      throw error instanceof Unavailable ? error : new Unavailable(error)
    })
    hasBegun = true
    return isNew
  }
  const note: Note = ({ target, ...added }) => {
    entry = {
      ...entry,
      target: { ...entry.target, ...target },
      changes: { ...entry.changes, ...toChanges(action, added) },
    }
  }
  let isOthers = false
  const begin: Begin = async (startedId, added) => {
    note(added)
    entry = { ...entry, ...identify(derivedId(timeOfId(startedId), `audit ${startedId}`)) }
    isOthers = !(await store())
  }
  const end = (ended: Pick<AuditEntry, 'result' | 'error'>) => endEntry(audit, { ...entry, ...ended })
  if (!STARTING.has(action)) await store()
  try {
    const result = await change(note, begin)
    if (hasBegun) await end({ result: 'SUCCEEDED' })
    return result
  } catch (error) {
    if (!hasBegun) await store()
    // The other request may have started it.
    if (isOthers) throw error
    await end({ result: 'FAILED', error: error instanceof ServiceError ? error.code : 'InternalError' })
    throw error
  }
}

/** What the entry of a publication shows of the version, and of the schedules that it sets. */
export const toPublished = ({ version, isNew }: { version: Version; isNew: boolean }) => ({
  target: { kind: 'agent' as const, id: version.agentId },
  slug: version.slug,
  draft: version.status === 'DRAFT',
  versionId: version.id,
  isNew,
  schedules: version.schedules?.map(({ name }) => name),
})

/** Never throws. */
async function endEntry(audit: AuditStore, entry: AuditEntry): Promise<void> {
  const { id, organizationId, action } = entry
  const ending = audit.end({ entry }).catch((error: unknown) => {
    logger.warn('result of a change is not stored', {
      id,
      organizationId,
      action,
      cause: describeCause(error),
    })
  })
  await Promise.race([ending, sleep(MAX_RESULT_MS, undefined, { ref: false })])
}

const asInEntries = (text: string, max?: number): string =>
  isUuid(text) ? text.toLowerCase() : toShown(text, max)

type Query = PageQuery & AuditFilter & { from?: string | undefined; to?: string | undefined }

/**
 * The changes of an organization, newest first. They are about all agents and tenants.
 * @param environment has how long they are kept
 * @throws Forbidden for a token that is limited to agents, InvalidCursor
 */
export async function listAuditEntries(
  { audit, system, environment = process.env }: Omit<Parts, 'isMarked'> & { environment?: Environment },
  { access, query }: { access: Pick<Access, 'organizationId' | 'agents'>; query: Query },
): Promise<Page<AuditEntry>> {
  assertAllAgents(access)
  const { from, to, action, actor, target } = query
  // DynamoDB deletes what has expired within a few days.
  const keptDays = readSetting('auditRetentionDays', environment)
  const keptFrom = system.now() - keptDays * DAY_MS
  return audit.list({
    organizationId: access.organizationId,
    from: Math.max(keptFrom, from === undefined ? 0 : Date.parse(from)),
    before: to === undefined ? undefined : Date.parse(to),
    action,
    actor: actor && asInEntries(actor, actor.length),
    target: target && asInEntries(target),
    ...parsePage(query, BY_ID),
  })
}
