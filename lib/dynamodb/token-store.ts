import type { Token } from '../core/agent.ts'
import type { TokenStore } from '../core/ports.ts'
import { ownedShard, shardOf, tokenKey } from './keys.ts'
import { readRecords, readShardedPage } from './sharded-list.ts'
import type { Item, Table } from './table.ts'

const PAGE = 100

/** API tokens, found by hash on the request path and listed by organization for the operator. */
export function tokenStore(table: Table): TokenStore {
  const list: TokenStore['list'] = async ({ organizationId, limit, after }) => {
    const page = await readShardedPage(table, {
      index: 'owned-by-organization',
      shard: (shard) => ownedShard(organizationId, 'TOKEN', shard),
      limit,
      after,
    })
    return { items: (await readRecords(table, page)).map(fromItem), next: page.next }
  }

  return {
    list,

    async create({ token }) {
      await table.put(toItem(token), { expression: 'attribute_not_exists(pk)' })
    },

    async getByHash({ hash }) {
      const item = await table.get(tokenKey(hash), { consistent: true })
      return item && fromItem(item)
    },

    async revoke({ organizationId, id, revokedAt }) {
      for (let after: Parameters<typeof list>[0]['after'] = null; ; ) {
        const page = await list({ organizationId, limit: PAGE, after })
        const token = page.items.find((candidate) => candidate.id === id)
        if (token) {
          await table.update(tokenKey(token.hash), { setOnce: { revokedAt } })
          return true
        }
        if (!page.next) return false
        after = page.next
      }
    },
  }
}

function toItem(token: Token): Item {
  return {
    ...tokenKey(token.hash),
    ownerShard: ownedShard(token.organizationId, 'TOKEN', shardOf(token.id)),
    listOrder: token.id,
    ...token,
    expiresAt: token.expiresAt ?? undefined,
    revokedAt: token.revokedAt ?? undefined,
  }
}

function fromItem(item: Item): Token {
  const { id, hash, organizationId, name, createdBy, createdAt } = item as Token
  const { expiresAt, revokedAt } = item as Partial<Token>
  return {
    id,
    hash,
    organizationId,
    name,
    createdBy,
    createdAt,
    expiresAt: expiresAt ?? null,
    revokedAt: revokedAt ?? null,
  }
}
