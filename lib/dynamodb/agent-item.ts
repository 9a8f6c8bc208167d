import type { Agent, Version, VersionStatus } from '../core/agent.ts'
import { LIST_SHARDS, ownedShard, shardOf } from './table/keys.ts'
import type { Change, Condition, Item } from './table/table.ts'

/** Approximate size of the record as JSON. */
export const recordBytes = ({ title, description, inputSchema, outputSchema }: Item): number =>
  Buffer.byteLength([title, description, inputSchema, outputSchema].join(''))

/** The single write that publishes a version: readers see the agent before or after it, never in between. */
export function toAgentChange(version: Version, item: Item): Change {
  const { organizationId, agentId: id, slug, createdAt, createdBy, status } = version
  const identity = {
    id,
    organizationId,
    slug,
    createdAt,
    createdBy,
    ownerShard: ownedShard(organizationId, 'AGENT', shardOf(id, LIST_SHARDS)),
    listOrder: `${createdAt}#${id}`,
  }
  const shown = shownOf(item)
  if (status === 'DRAFT') {
    return { setOnce: { ...identity, ...shown }, set: { draftVersionId: version.id, updatedAt: createdAt } }
  }
  return {
    setOnce: identity,
    set: { ...shown, current: item, updatedAt: createdAt },
    remove: item.description === undefined ? ['draftVersionId', 'description'] : ['draftVersionId'],
  }
}

/** What an agent shows of its current version. */
export const shownOf = ({ title, description, inputSchema, outputSchema }: Item): Item => ({
  title,
  description,
  inputSchema,
  outputSchema,
})

/** Schemas, settings and tools are stored as JSON text, which keeps the order of keys and the form of numbers. */
export function versionToItem(version: Version): Item {
  return {
    ...version,
    description: version.description ?? undefined,
    model: version.model ?? undefined,
    modelSettings: version.modelSettings && JSON.stringify(version.modelSettings),
    learning: version.learning && JSON.stringify(version.learning),
    inputSchema: JSON.stringify(version.inputSchema),
    outputSchema: JSON.stringify(version.outputSchema),
    execution: JSON.stringify(version.execution),
    tools: JSON.stringify(version.tools),
  }
}

export function versionFromItem(item: Item): Version {
  const {
    id,
    agentId,
    organizationId,
    slug,
    status,
    title,
    createdAt,
    createdBy,
    code,
    instructions,
    digest,
    documentHash,
    codeHash,
    env,
    message,
  } = item as Version
  return {
    id,
    agentId,
    organizationId,
    slug,
    status,
    title,
    description: (item.description as string | undefined) ?? null,
    createdAt,
    createdBy,
    inputSchema: JSON.parse(String(item.inputSchema)),
    outputSchema: JSON.parse(String(item.outputSchema)),
    model: (item.model as string | undefined) ?? null,
    ...(item.learning !== undefined && { learning: JSON.parse(String(item.learning)) }),
    ...(item.modelSettings !== undefined && { modelSettings: JSON.parse(String(item.modelSettings)) }),
    tools: JSON.parse(String(item.tools)),
    code,
    env,
    instructions,
    execution: JSON.parse(String(item.execution)),
    digest,
    documentHash,
    ...(codeHash !== undefined && { codeHash }),
    ...(message !== undefined && { message }),
  }
}

/** An attribute for each retired version: setting one is a single conditional write, whatever the others are. */
const RETIRED_PREFIX = 'retired_'

/** A name that expressions can contain: without hyphens. */
export const retiredAttribute = (versionId: string): string =>
  `${RETIRED_PREFIX}${versionId.replaceAll('-', '')}`

const retiredOf = (item: Item): Agent['retired'] =>
  Object.fromEntries(
    Object.entries(item)
      .filter(([name]) => name.startsWith(RETIRED_PREFIX))
      .map(([name, retiredAt]) => [toUuid(name.slice(RETIRED_PREFIX.length)), String(retiredAt)]),
  )

const toUuid = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

export function agentFromItem(item: Item): Agent {
  const { id, organizationId, slug, title, createdAt, createdBy, updatedAt } = item as Agent
  return {
    id,
    organizationId,
    slug,
    title,
    description: (item.description as string | undefined) ?? null,
    createdAt,
    createdBy,
    updatedAt,
    inputSchema: JSON.parse(String(item.inputSchema)),
    outputSchema: JSON.parse(String(item.outputSchema)),
    current: item.current ? versionFromItem(item.current as Item) : null,
    draftVersionId: (item.draftVersionId as string | undefined) ?? null,
    archivedAt: (item.archivedAt as string | undefined) ?? null,
    retired: retiredOf(item),
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
  const [path, names] =
    status === 'DRAFT' ? ['#draftVersionId', ['draftVersionId']] : ['#current.#id', ['current', 'id']]
  if (id === null) return { expression: `attribute_not_exists(${path})`, names: names as string[] }
  return { expression: `${path} = :referred`, names: names as string[], values: { referred: id } }
}

/** Whether the agent's current version is another one, or none. */
export const isNotCurrent = (versionId: string): Condition => ({
  expression: '(attribute_not_exists(#current) OR #current.#id <> :versionId)',
  names: ['current', 'id'],
  values: { versionId },
})

/** Whether the version of the agent accepts runs. */
export function isNotRetired(versionId: string): Condition {
  const name = retiredAttribute(versionId)
  return { expression: `attribute_not_exists(#${name})`, names: [name] }
}

/** Null adds nothing. */
export function allOf(...conditions: (Condition | null)[]): Condition {
  const all = conditions.filter((condition) => condition !== null)
  return {
    expression: all.map(({ expression }) => expression).join(' AND '),
    names: all.flatMap(({ names = [] }) => names),
    values: Object.assign({}, ...all.map(({ values }) => values)),
  }
}
