import type { VersionStatus } from '../core/agent.ts'
import { retiredAttribute } from './agent-item.ts'
import type { Condition } from './table/table.ts'

/** Conditions of writes to agents and versions. */

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
