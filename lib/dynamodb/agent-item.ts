import type { Agent, Promotion, Version, VersionStatus } from '../core/agent.ts'
import type { AbortedRollout, Rollout } from '../core/rollout.ts'
import { LIST_SHARDS, ownedShard, shardOf, timerShardOf } from './table/keys.ts'
import { type Change, type Condition, type Item, pick } from './table/table.ts'

/** Approximate size of the record as JSON. */
export const recordBytes = ({ title, description, inputSchema, outputSchema }: Item): number =>
  Buffer.byteLength([title, description, inputSchema, outputSchema].join(''))

/** The single write that publishes a version: readers see the agent before or after it, never in between. */
export function toAgentChange(version: Version, item: Item, syncAt: number | null): Change {
  const { organizationId, agentId: id, createdAt, createdBy, createdByName, status } = version
  const identity = {
    id,
    ...pick(version, ['organizationId', 'slug', 'createdAt', 'createdBy']),
    ownerShard: ownedShard(organizationId, 'AGENT', shardOf(id, LIST_SHARDS)),
    listOrder: `${createdAt}#${id}`,
  }
  const shown = shownOf(item)
  if (status === 'DRAFT') {
    return { setOnce: { ...identity, ...shown }, set: { draftVersionId: version.id, updatedAt: createdAt } }
  }
  return {
    setOnce: { ...identity, ...(syncAt !== null && syncTimer(id, syncAt)) },
    set: {
      ...{ ...shown, current: item, updatedAt: createdAt },
      promotion: { at: createdAt, by: createdBy, ...(createdByName && { byName: createdByName }) },
    },
    remove: ['draftVersionId', 'rollout', ...(item.description === undefined ? ['description'] : [])],
  }
}

/** Set once: a process may have moved it, which synchronizes with an earlier version. It notices that. */
export const syncTimer = (agentId: string, syncAt: number): Item => ({
  openShard: timerShardOf(agentId),
  openUntil: syncAt,
})

export const hasTimer = (openUntil: number): Condition => ({
  expression: '#openUntil = :dueAt',
  names: ['openUntil'],
  values: { dueAt: openUntil },
})

/** What an agent shows of its current version. */
export const shownOf = (item: Item): Item =>
  pick(item, ['title', 'description', 'inputSchema', 'outputSchema'])

/** Stored as JSON text, which keeps the order of keys and the form of numbers. */
const JSON_FIELDS = [
  'inputSchema',
  'outputSchema',
  'execution',
  'tools',
  'modelSettings',
  'fallbacks',
  'learning',
  'context',
  'schedules',
  'keys',
  'scorers',
  'remote',
] as const

export const versionToItem = (version: Version): Item => ({
  ...version,
  description: version.description ?? undefined,
  model: version.model ?? undefined,
  ...mapFields(version, JSON_FIELDS, (value) => JSON.stringify(value)),
})

export function versionFromItem(item: Item): Version {
  const version = item as Version
  return {
    ...pick(version, ['id', 'agentId', 'organizationId', 'slug', 'status', 'title']),
    description: version.description ?? null,
    ...pick(version, ['createdAt', 'createdBy', 'createdByName', 'number', 'promotion']),
    ...parse(version, ['inputSchema', 'outputSchema']),
    model: version.model ?? null,
    ...parse(version, ['fallbacks', 'learning', 'context', 'schedules', 'keys', 'modelSettings', 'tools']),
    ...parse(version, ['scorers', 'remote']),
    ...pick(version, ['requireTools', 'code', 'env', 'instructions', 'useDynamicLearning']),
    ...parse(version, ['execution']),
    ...pick(version, ['digest', 'documentHash', 'codeHash', 'message', 'editedFrom', 'neverReplaced']),
  }
}

const parse = <T extends object, Name extends keyof T>(item: T, names: readonly Name[]): Pick<T, Name> =>
  mapFields(item, names, (json) => JSON.parse(String(json))) as Pick<T, Name>

function mapFields<T extends object>(
  fields: T,
  names: readonly (keyof T)[],
  map: (value: unknown) => unknown,
) {
  return Object.fromEntries(Object.entries(pick(fields, names)).map(([name, value]) => [name, map(value)]))
}

/** An attribute for each retired version: setting one is a single conditional write, whatever the others are. */
const RETIRED_PREFIX = 'retired_'
/** The same for versions whose rollout the service has ended. */
const ABORTED_PREFIX = 'aborted_'

/** A name that expressions can contain: without hyphens. */
const ofVersion = (prefix: string, versionId: string): string => `${prefix}${versionId.replaceAll('-', '')}`
export const retiredAttribute = (versionId: string): string => ofVersion(RETIRED_PREFIX, versionId)
export const abortedAttribute = (versionId: string): string => ofVersion(ABORTED_PREFIX, versionId)

/** By the id of the version. */
const byVersion = (item: Item, prefix: string): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(item)
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, value]) => [toUuid(name.slice(prefix.length)), value]),
  )

const toUuid = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

export function agentFromItem(item: Item): Agent {
  const { description = null, draftVersionId = null, archivedAt = null } = item as Partial<Agent>
  return {
    ...pick(item as Agent, ['id', 'organizationId', 'slug', 'title', 'createdAt', 'createdBy', 'updatedAt']),
    description,
    ...parse(item as Agent, ['inputSchema', 'outputSchema']),
    current: item.current ? versionFromItem(item.current as Item) : null,
    draftVersionId,
    promotion: (item.promotion as Promotion | undefined) ?? null,
    archivedAt,
    syncAt: item.openUntil === undefined ? null : Number(item.openUntil),
    retired: byVersion(item, RETIRED_PREFIX) as Agent['retired'],
    rollout: (item.rollout as Rollout | undefined) ?? null,
    abortedRollouts: byVersion(item, ABORTED_PREFIX) as Agent['abortedRollouts'],
  }
}

export const EXISTS: Condition = { expression: 'attribute_exists(pk)' }
/** Whether the agent is not archived; also if it does not exist. */
export const IS_ACTIVE: Condition = { expression: 'attribute_not_exists(#archivedAt)', names: ['archivedAt'] }

export const IS_NOT_DELETED: Condition = { expression: 'attribute_not_exists(#deleted)', names: ['deleted'] }

export const isOwnedBy = (organizationId: string): Condition => ({
  expression: '#organizationId = :owner',
  names: ['organizationId'],
  values: { owner: organizationId },
})

export const hasStatus = (status: VersionStatus): Condition => ({
  expression: '#status = :expected',
  names: ['status'],
  values: { expected: status },
})

/** Whether the agent's draft, or its current version, has this id; null for none. */
export function refersTo(status: VersionStatus, id: string | null): Condition {
  const names = status === 'DRAFT' ? ['draftVersionId'] : ['current', 'id']
  const path = names.map((name) => `#${name}`).join('.')
  if (id === null) return { expression: `attribute_not_exists(${path})`, names }
  const value = `${names[0]}Id`
  return { expression: `${path} = :${value}`, names, values: { [value]: id } }
}

/** Whether the agent's current version is another one, or none. */
export const isNotCurrent = (versionId: string): Condition => ({
  expression: '(attribute_not_exists(#current) OR #current.#id <> :versionId)',
  names: ['current', 'id'],
  values: { versionId },
})

/** Whether the agent's rollout is of another version, or there is none. */
export const isNotRolledOut = (versionId: string): Condition => ({
  expression: '(attribute_not_exists(#rollout) OR #rollout.#versionId <> :versionId)',
  names: ['rollout', 'versionId'],
  values: { versionId },
})

/** Whether the agent's rollout is still the one that was read; null: whether it has none. */
export const isRollout = (rollout: Rollout | null): Condition =>
  rollout === null
    ? { expression: 'attribute_not_exists(#rollout)', names: ['rollout'] }
    : {
        expression: '#rollout.#revision = :readRevision',
        names: ['rollout', 'revision'],
        values: { readRevision: rollout.revision },
      }

/** Whether this rollout is the last one of its version that the service has ended. */
export function isAborted({ versionId, id }: AbortedRollout): Condition {
  const name = abortedAttribute(versionId)
  return { expression: `#${name}.#id = :abortedId`, names: [name, 'id'], values: { abortedId: id } }
}

/** Whether the version of the agent accepts runs. */
export function isNotRetired(versionId: string): Condition {
  const name = retiredAttribute(versionId)
  return { expression: `attribute_not_exists(#${name})`, names: [name] }
}
