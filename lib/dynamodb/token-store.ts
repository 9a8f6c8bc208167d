import type { Token } from '../core/agent.ts'
import type { TokenStore } from '../core/ports.ts'
import { withoutNulls } from './execution-item.ts'
import { LIST_SHARDS, ownedShard, shardOf, tokenIdKey, tokenKey } from './table/keys.ts'
import { listRecords } from './table/sharded-list.ts'
import { type Item, NOT_EXISTS, type Table } from './table/table.ts'

/** API tokens. Requests find them by hash; operators by id and by organization. */
export function tokenStore(table: Table): TokenStore {
  return {
    async list({ organizationId, ...page }) {
      const { items, next } = await listRecords(table, {
        index: 'owned-by-organization',
        shard: (shard) => ownedShard(organizationId, 'TOKEN', shard),
        ...page,
      })
      return { items: items.map(fromItem), next }
    },

    async create({ token }) {
      await table.put({ ...tokenIdKey(token.id), hash: token.hash })
      return table.put(toItem(token), NOT_EXISTS)
    },

    async getByHash({ hash }) {
      const item = await table.get(tokenKey(hash), { consistent: true })
      return item && fromItem(item)
    },

    async recordUse({ hash, lastUsedAt }) {
      await table.update(tokenKey(hash), {
        set: { lastUsedAt },
        condition: {
          expression:
            'attribute_exists(pk) AND (attribute_not_exists(#lastUsedAt) OR #lastUsedAt < :lastUsedAt)',
        },
      })
    },

    async revoke({ organizationId, id, revokedAt }) {
      const pointer = await table.get(tokenIdKey(id), { consistent: true })
      if (!pointer) return false
      const key = tokenKey(String(pointer.hash))
      const token = await table.get(key, { consistent: true })
      // The hash belongs to another token if `create` returned false for this one.
      if (token?.id !== id || (organizationId !== null && token.organizationId !== organizationId))
        return false
      await table.update(key, { setOnce: { revokedAt } })
      return true
    },
  }
}

function toItem(token: Token): Item {
  return {
    ...tokenKey(token.hash),
    ownerShard: ownedShard(token.organizationId, 'TOKEN', shardOf(token.id, LIST_SHARDS)),
    listOrder: token.id,
    ...withoutNulls(token),
  }
}

function fromItem(item: Item): Token {
  const { id, hash, organizationId, name, createdBy, createdAt } = item as Token
  const optional = item as Partial<Token>
  return {
    id,
    hash,
    organizationId,
    name,
    createdBy,
    createdAt,
    prefix: optional.prefix ?? null,
    expiresAt: optional.expiresAt ?? null,
    revokedAt: optional.revokedAt ?? null,
    lastUsedAt: optional.lastUsedAt ?? null,
    scopes: optional.scopes ?? null,
    agents: optional.agents ?? null,
    tenantId: optional.tenantId ?? null,
    rate: optional.rate ?? null,
  }
}
