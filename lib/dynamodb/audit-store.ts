import type { AuditEntry, AuditTarget } from '../core/audit.ts'
import { firstIdAt } from '../core/ids.ts'
import type { AuditFilter, AuditStore } from '../core/ports/access.ts'
import { allOf } from './table/expressions.ts'
import { AUDIT_PARTITIONS, auditKey, auditPartition, outboxKeys } from './table/keys.ts'
import { readShardedPage } from './table/sharded-list.ts'
import { type Condition, type Item, NOT_EXISTS, type Table } from './table/table.ts'

/** Audit logs: an item for each change, which its result is added to once. Their times to live are of `retention`. */
export const auditStore = (table: Table): AuditStore => ({
  begin: ({ entry, isMarked }) =>
    table.put(
      {
        ...keyOf(entry),
        ...toItem(entry),
        ...(isMarked && {
          ...outboxKeys(entry.id, Date.parse(entry.at)),
        }),
      },
      NOT_EXISTS,
    ),

  async end({ entry }) {
    const { result, error, changes, target } = entry
    const updated = await table.update(keyOf(entry), {
      set: { result, error, changes: JSON.stringify(changes), ...toTargetItem(target) },
      condition: { expression: '#result = :started', names: ['result'], values: { started: 'STARTED' } },
    })
    return updated !== null
  },

  async get({ organizationId, id }) {
    const keys = [false, true].map((isMcp) => auditKey(organizationId, id, isMcp))
    const [item] = await table.getMany(keys, { consistent: true })
    return item ? toEntry(item) : null
  },

  async list({ organizationId, from, before, limit, after, ...filter }) {
    const { items, next } = await readShardedPage(table, {
      index: null,
      shard: (number) => auditPartition(organizationId, number),
      shards: AUDIT_PARTITIONS,
      limit,
      after,
      range: {
        from: from === undefined ? undefined : firstIdAt(from),
        before: before === undefined ? undefined : firstIdAt(before),
      },
      filter: toCondition(filter),
    })
    return { items: items.map(toEntry), next }
  },
})

const keyOf = ({ organizationId, id, source }: AuditEntry) =>
  auditKey(organizationId, id, source.interface === 'MCP')

const toItem = ({ target, changes, actor, ...entry }: AuditEntry): Item => ({
  ...entry,
  actor,
  // Filters compare them.
  actorId: actor.id,
  subject: actor.subject,
  ...toTargetItem(target),
  changes: JSON.stringify(changes),
})

const toTargetItem = ({ kind, id, agentId, executionId }: AuditTarget): Item => ({
  targetKind: kind,
  targetId: id ?? undefined,
  targetAgentId: agentId,
  targetExecutionId: executionId,
})

function toEntry(item: Item): AuditEntry {
  const { id, organizationId, at, actor, source, action, result, error, changes } = item
  const { targetKind: kind, targetId = null, targetAgentId: agentId, targetExecutionId: executionId } = item
  return {
    ...{ id, organizationId, at, actor, source, action },
    target: {
      kind,
      id: targetId,
      ...(agentId !== undefined && { agentId }),
      ...(executionId !== undefined && { executionId }),
    },
    changes: JSON.parse(String(changes)),
    result,
    ...(error !== undefined && { error }),
  } as AuditEntry
}

/** Undefined without a filter. */
function toCondition({ action, actor, target }: AuditFilter): Condition | undefined {
  const equals = (names: string[], value: string, text: string): Condition => ({
    expression: `(${names.map((name) => `#${name} = :${value}`).join(' OR ')})`,
    names,
    values: { [value]: text },
  })
  const conditions = [
    action === undefined ? null : equals(['action'], 'action', action),
    actor === undefined ? null : equals(['actorId', 'subject'], 'actor', actor),
    target === undefined
      ? null
      : equals(['targetId', 'targetAgentId', 'targetExecutionId'], 'target', target),
  ]
  return conditions.some((condition) => condition !== null) ? allOf(...conditions) : undefined
}
