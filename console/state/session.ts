import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { MeRecord } from '../../lib/api/schemas/records.ts'
import { createStore, type Store } from './store.ts'

/** The API token in use. `rejection`: why the last one was rejected or removed, for the sign-in page. */
type Credentials = { token: string | null; rejection: string | null }

const KEY = 'agent-execution-service.token'

/** Kept in `sessionStorage`: for this tab, until it is closed. */
export const credentials: Store<Credentials> = createStore({ token: load(), rejection: null })

credentials.subscribe(() => save(credentials.get().token))

/** The token of a link that was opened while another one was in use, until the user has chosen. */
export const offeredToken: Store<string | null> = createStore<string | null>(null)

/** Uses the token of a link, or offers it if another one is in use. */
export function offer(token: string): void {
  const { token: current } = credentials.get()
  if (current === null) credentials.set({ token, rejection: null })
  else if (current !== token) offeredToken.set(token)
}

export function signOut(rejection: string | null = null): void {
  credentials.set({ token: null, rejection })
}

/** Browsers that block storage throw: then the token is kept until the page is reloaded. */
function load(): string | null {
  try {
    return sessionStorage.getItem(KEY)
  } catch {
    return null
  }
}

function save(token: string | null): void {
  try {
    if (token === null) sessionStorage.removeItem(KEY)
    else sessionStorage.setItem(KEY, token)
  } catch {
    // See `load`.
  }
}

/** The organization and the limits of the token; null until they are known. */
export const MeContext = createContext<MeRecord | null>(null)

export const useMe = (): MeRecord | null => useContext(MeContext)

export type Scope = MeRecord['scopes'][number]

/** Whether the token may change what belongs to all tenants, such as agents. False until it is known. */
export function useMayManage(): boolean {
  const me = useMe()
  return me !== null && me.tenantId === null && me.scopes.includes('manage')
}

/** Whether the token has a scope. True until it is known: the service decides in any case. */
export function useScope(scope: Scope): boolean {
  const me = useMe()
  return me === null || me.scopes.includes(scope)
}
