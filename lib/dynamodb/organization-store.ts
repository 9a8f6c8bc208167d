import type { Organization } from '../core/agent.ts'
import type { OrganizationStore } from '../core/ports.ts'
import { organizationKey, organizationsShard, shardOf } from './keys.ts'
import { readRecords, readShardedPage } from './sharded-list.ts'
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
      const found = await readShardedPage(table, {
        index: 'owned-by-organization',
        shard: organizationsShard,
        ...page,
      })
      return { items: (await readRecords(table, found)).map(fromItem), next: found.next }
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
