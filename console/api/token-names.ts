import { useEffect } from 'preact/hooks'
import type { TokenRecord } from '../../lib/contract/records/token.ts'
import { credentials, useMe } from '../state/session.ts'
import { createStore, type Store, useStore } from '../state/store.ts'
import { requestPages } from './request.ts'

/** Names of tokens by ID, for tokens that may list them. Null until they are loaded. */
const names: Store<ReadonlyMap<string, string> | null> = createStore(null)
let isRequested = false

credentials.subscribe(() => {
  names.set(null)
  isRequested = false
})

/** The name of a token, or of the person who uses the console; undefined if it is not known. */
export function useTokenName(id: string, isNeeded: boolean): string | undefined {
  const me = useMe()
  const known = useStore(names)
  const mayList = isNeeded && (me?.scopes.includes('manage') ?? false) && me?.tenantId === null
  useEffect(() => {
    if (!mayList || isRequested) return
    isRequested = true
    void load()
  }, [mayList])
  return known?.get(id) ?? (id === me?.tokenId ? (me.subject ?? 'this token') : undefined)
}

async function load(): Promise<void> {
  const { token } = credentials.get()
  const list = await requestPages<TokenRecord>('/v1/tokens', { query: { limit: 100 } }).catch(() => null)
  if (list && credentials.get().token === token)
    names.set(new Map(list.items.map(({ id, name }) => [id, name])))
}
