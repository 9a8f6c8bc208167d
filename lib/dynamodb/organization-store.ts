import type { Organization } from '../core/agent.ts'
import type { OrganizationStore } from '../core/ports.ts'
import { organizationKey, organizationsShard, shardOf } from './keys.ts'
import { readShardedPage } from './sharded-list.ts'
import type { Item, Table } from './table.ts'

/** Organizations: who owns agents, executions and tokens. */
export function organizationStore(table: Table): OrganizationStore {
  return {
    async create({ organization }) {
      await table.put(toItem(organization), { expression: 'attribute_not_exists(pk)' })
    },

    async get({ id }) {
      const item = await table.get(organizationKey(id), { consistent: true })
      return item && fromItem(item)
    },

    async list(page) {
      const { items, next } = await readShardedPage(table, {
        index: 'owned-by-organization',
        shard: organizationsShard,
        ...page,
      })
      const ids = items.map((item) => organizationKey(String(item.listOrder)))
      return { items: (await table.getMany(ids, { consistent: true })).map(fromItem), next }
    },
  }
}

function toItem(organization: Organization): Item {
  const { id } = organization
  return {
    ...organizationKey(id),
    ownerShard: organizationsShard(shardOf(id)),
    listOrder: id,
    ...organization,
  }
}

function fromItem(item: Item): Organization {
  const { id, name, createdAt } = item as Organization
  return { id, name, createdAt }
}
