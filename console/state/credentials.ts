import { createStore, type Store } from './store.ts'

/** The API token in use. `rejection`: why the last one was rejected or removed, for the sign-in page. */
export type Credentials = { token: string | null; rejection: string | null }

const KEY = 'agent-execution-service.token'

/** Kept in `sessionStorage`: for this tab, until it is closed. */
export const credentials: Store<Credentials> = createStore({ token: load(), rejection: null })

credentials.subscribe(() => save(credentials.get().token))

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
