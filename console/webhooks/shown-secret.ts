import { credentials } from '../state/session.ts'
import { createStore, type Store } from '../state/store.ts'

/** A secret that the service has just made, and tells nobody again. */
export type ShownSecret = {
  /** Of the webhook, or `default`. */
  id: string
  secret: string
  isNew: boolean
  /** Until then, the previous one is valid, too. ISO 8601 */
  previousSecretExpiresAt: string | null
}

/** Kept here, and nowhere else, until the user says that it is stored: also when another page is opened meanwhile. */
export const shownSecret: Store<ShownSecret | null> = createStore<ShownSecret | null>(null)

credentials.subscribe(() => shownSecret.set(null))
