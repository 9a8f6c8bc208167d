import type { ServedDeclarations } from '../core/model.ts'
import type { DeclarationStore } from '../core/ports/caches.ts'
import { INTERVAL_MS } from '../core/usage.ts'
import { declarationsKey } from './table/keys.ts'
import { orCorrupt, readText, type StoredText, toStoredText } from './table/stored-text.ts'
import type { Table } from './table/table.ts'

/** Below DynamoDB's limit of 400 KB for an item. No model takes as much as has this size when it is compressed. */
const MAX_BYTES = 380_000

/** Written again by each process and day that use them, so that they are kept as long as executions refer to them. */
export function declarationStore(table: Table): DeclarationStore {
  return {
    async put({ organizationId, hash, declarations, now }) {
      const content = toStoredText(JSON.stringify(declarations))
      if (typeof content !== 'string' && content.gzip.length > MAX_BYTES) return
      await table.put({
        ...declarationsKey(organizationId, hash),
        content,
        usedUntil: now + INTERVAL_MS.day,
      })
    },

    async get({ organizationId, hash }) {
      const key = declarationsKey(organizationId, hash)
      const item = await table.get(key, { consistent: true })
      if (!item) return null
      const json = readText(item.content as StoredText, key)
      return orCorrupt(key, () => JSON.parse(json) as ServedDeclarations)
    },
  }
}
