import { credentials } from './session.ts'
import { createStore, type Store } from './store.ts'

/**
 * A store of what the service tells only once. It is kept here, and nowhere else, until the user says that it is
 * stored, also when another page is opened meanwhile. Whoever uses the console next does not see it.
 */
export function createSecretStore<T>(): Store<T | null> {
  const store = createStore<T | null>(null)
  credentials.subscribe(() => store.set(null))
  return store
}
