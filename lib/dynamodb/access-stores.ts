import { UNLIMITED } from '../core/access.ts'
import type { Organization, Token } from '../core/agent.ts'
import type { OrganizationStore, RateStore, TokenStore } from '../core/ports/access.ts'
import { withoutNulls } from './executions/execution-item.ts'
import {
  LIST_SHARDS,
  largeBodiesKey,
  occupancyKey,
  organizationKey,
  organizationsShard,
  ownedShard,
  QUOTA_KEY,
  rateKey,
  shardOf,
  tokenIdKey,
  tokenKey,
} from './table/keys.ts'
import { timeToLive } from './table/retention.ts'
import { listRecords } from './table/sharded-list.ts'
import { type Item, NOT_EXISTS, pick, type Table } from './table/table.ts'

/** Organizations, which own agents, executions and tokens. */
export function organizationStore(table: Table): OrganizationStore {
  return {
    async create({ organization }) {
      await table.put(organizationToItem(organization), NOT_EXISTS)
    },

    async get({ id }) {
      const item = await table.get(organizationKey(id), { consistent: true })
      return item && organizationFromItem(item)
    },

    async list(page) {
      const query = { index: 'owned-by-organization', shard: organizationsShard, ...page } as const
      const { items, next } = await listRecords(table, query)
      return { items: items.map(organizationFromItem), next }
    },
  }
}

const organizationToItem = (organization: Organization): Item => ({
  ...organizationKey(organization.id),
  ownerShard: organizationsShard(shardOf(organization.id, LIST_SHARDS)),
  listOrder: organization.id,
  ...organization,
})

const organizationFromItem = (item: Item): Organization =>
  pick(item as Organization, ['id', 'name', 'createdAt'])

/** API tokens. Requests find them by hash; those who manage them by id and by organization. */
export function tokenStore(table: Table): TokenStore {
  async function read(hash: string): Promise<Token | null> {
    const item = await table.get(tokenKey(hash), { consistent: true })
    return item && tokenFromItem(item)
  }

  return {
    async list({ organizationId, ...page }) {
      const { items, next } = await listRecords(table, {
        index: 'owned-by-organization',
        shard: (shard) => ownedShard(organizationId, 'TOKEN', shard),
        ...page,
      })
      return { items: items.map(tokenFromItem), next }
    },

    async create({ token }) {
      await table.put({ ...tokenIdKey(token.id), hash: token.hash })
      return table.put(tokenToItem(token), NOT_EXISTS)
    },

    getByHash: ({ hash }) => read(hash),

    async recordUse({ hash, lastUsedAt }) {
      await table.update(tokenKey(hash), {
        set: { lastUsedAt },
        condition: {
          expression:
            'attribute_exists(pk) AND (attribute_not_exists(#lastUsedAt) OR #lastUsedAt < :lastUsedAt)',
        },
      })
    },

    async get({ id }) {
      const pointer = await table.get(tokenIdKey(id), { consistent: true })
      const token = pointer && (await read(String(pointer.hash)))
      // The hash belongs to another token if `create` returned false for this one.
      return token?.id === id ? token : null
    },

    async revoke({ hash, revokedAt }) {
      const item = await table.update(tokenKey(hash), {
        setOnce: { revokedAt },
        condition: { expression: 'attribute_exists(pk)' },
      })
      return item && tokenFromItem(item)
    },

    async expire({ hash, expiresAt }) {
      const item = await table.update(tokenKey(hash), {
        set: { expiresAt },
        condition: {
          expression:
            'attribute_exists(pk) AND attribute_not_exists(#revokedAt) AND (attribute_not_exists(#expiresAt) OR #expiresAt > :expiresAt)',
          names: ['revokedAt'],
        },
      })
      return item ? tokenFromItem(item) : read(hash)
    },
  }
}

const tokenToItem = (token: Token): Item => ({
  ...tokenKey(token.hash),
  ownerShard: ownedShard(token.organizationId, 'TOKEN', shardOf(token.id, LIST_SHARDS)),
  listOrder: token.id,
  ...withoutNulls(token),
})

/** Null is stored as an absent attribute. */
const NO_VALUES = { ...UNLIMITED, expiresAt: null, revokedAt: null, lastUsedAt: null }

const tokenFromItem = ({ pk, sk, ownerShard, listOrder, ...token }: Item): Token => ({
  ...NO_VALUES,
  ...(token as Token),
})

/** Long enough for clocks that differ; DynamoDB deletes the counters within days. */
const KEPT_MS = 60_000

/**
 * Requests of tokens with a rate, one counter per token and second; bytes in large bodies, one counter per organization
 * and minute; processes that open requests occupy, one counter per organization and window. They are never read. The
 * quota of the account says whether processes are counted.
 */
export function rateStore(table: Table): RateStore {
  return {
    async count({ tokenId, second }) {
      const item = await table.update(rateKey(tokenId, second), {
        set: timeToLive(second * 1000 + KEPT_MS),
        add: { requests: 1 },
      })
      return Number(item?.requests)
    },

    async addBytes({ organizationId, minute, bytes }) {
      const item = await table.update(largeBodiesKey(organizationId, minute), {
        set: timeToLive((minute + 1) * 60_000 + KEPT_MS),
        add: { bytes },
      })
      return Number(item?.bytes)
    },

    async countProcess({ organizationId, name, window, endsAt }) {
      const item = await table.update(occupancyKey(organizationId, name, window), {
        set: timeToLive(endsAt + KEPT_MS),
        add: { processes: 1 },
      })
      return Number(item?.processes)
    },

    async getQuota({ now }) {
      const item = await table.get(QUOTA_KEY, { consistent: false })
      return item && Number(item.until) > now ? Number(item.quota) : null
    },

    async putQuota({ quota, until }) {
      await table.put({ ...QUOTA_KEY, quota, until, ...timeToLive(until) })
    },
  }
}
