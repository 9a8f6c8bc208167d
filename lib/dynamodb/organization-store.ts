import type { Organization } from '../core/agent.ts'
import type { OrganizationStore } from '../core/ports.ts'
import { LIST_SHARDS, organizationKey, organizationsShard, shardOf } from './table/keys.ts'
import { listRecords } from './table/sharded-list.ts'
import { type Item, NOT_EXISTS, type Table } from './table/table.ts'

/** Organizations, which own agents, executions and tokens. */
export function organizationStore(table: Table): OrganizationStore {
  return {
    async create({ organization }) {
      await table.put(toItem(organization), NOT_EXISTS)
    },

    async get({ id }) {
      const item = await table.get(organizationKey(id), { consistent: true })
      return item && fromItem(item)
    },

    async list(page) {
      const query = { index: 'owned-by-organization', shard: organizationsShard, ...page } as const
      const { items, next } = await listRecords(table, query)
      return { items: items.map(fromItem), next }
    },
  }
}

function toItem(organization: Organization): Item {
  const { id } = organization
  return {
    ...organizationKey(id),
    ownerShard: organizationsShard(shardOf(id, LIST_SHARDS)),
    listOrder: id,
    ...organization,
  }
}

function fromItem(item: Item): Organization {
  const { id, name, createdAt } = item as Organization
  return { id, name, createdAt }
}
