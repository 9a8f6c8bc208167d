import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { MeRecord } from '../../lib/contract/records/records.ts'
import { openStorage } from './browser-storage.ts'
import { arrivingSignIn, keepResume, keepSignedOut } from './provider-sign-in.ts'
import { createStore, type Store } from './store.ts'
import { ANSWER_MS, findOthers, holdLock, linkTabs, type TabLink } from './token-channel.ts'
import { isJwt, isToken, openTokenStorage, type TokenStorage } from './token-storage.ts'
import { TypedValues } from './typed-values.ts'

/** The API token in use. `rejection`: why the last one was rejected or removed, for the sign-in page. */
type Credentials = { token: string | null; rejection: string | null }

/** Kept by this tab until it is closed, and by this device if the user asks for it (docs/decisions/0040). */
export const credentials: Store<Credentials> = createStore<Credentials>({ token: null, rejection: null })

/** Whether another tab may still answer with its token: until then, nobody is asked for one. */
export const isLookingForToken: Store<boolean> = createStore(true)

/** The token of a link that was opened, until the user has chosen: anyone can make such a link. */
export const offeredToken: Store<string | null> = createStore<string | null>(null)

const REJECTED = 'The service rejected the token: it may have expired, or been revoked. Sign in again.'
const EXPIRED = 'Your sign-in has expired. Sign in again: what you typed is kept.'

/** Why the service no longer accepts a token. Those of an identity provider often end within an hour. */
export const rejectionOf = (token: string): string => (isJwt(token) ? EXPIRED : REJECTED)

/** If it is known that another tab is signed in. */
const KNOWN_ANSWER_MS = 2_000

let storage: TokenStorage | null = null
let tabs: TabLink | null = null
/** Of a link that was opened before it was known whether another token is in use. A reload in between keeps it. */
let linkToken: string | null = null
let linkStorage: TokenStorage | null = null

/** Uses the token of this tab, otherwise that of another tab, otherwise the one that this device keeps. */
export function startSession(): void {
  // Each stage on a host has a console of its own: they differ in their path.
  const key = `agent-execution-service.token ${window.location.pathname}`
  const places = { tab: openStorage('sessionStorage'), device: openStorage('localStorage'), now: Date.now }
  const opened = openTokenStorage(key, places)
  storage = opened
  linkStorage = openTokenStorage(`${key} link`, places)
  linkToken ??= linkStorage.load()
  linkStorage.save(linkToken)
  tabs = openTabs(key)
  const token = opened.load()
  credentials.subscribe(() => {
    const { token: current } = credentials.get()
    opened.save(current)
    keepResume(current !== null && isJwt(current))
    if (current !== null) arrivingSignIn.set(null)
  })
  const arriving = arrivingSignIn.get()
  // What the user has just asked for comes first.
  if (arriving?.kind === 'returned' && arriving.response.pending) isLookingForToken.set(false)
  else if (token !== null) use(token)
  else tabs?.ask(use)
  void findOthers(key).then((hasOthers) => {
    const ms = hasOthers ? KNOWN_ANSWER_MS : hasOthers === null && tabs ? ANSWER_MS : 0
    setTimeout(stopLooking, ms)
    holdLock(key, credentials)
  })
}

/** Not where the browser blocks storage: then each tab is on its own. */
function openTabs(key: string): TabLink | null {
  let usedAt = 0
  window.addEventListener('blur', () => {
    usedAt = Date.now()
  })
  try {
    return linkTabs(new BroadcastChannel(key), {
      current: () => ({
        token: credentials.get().token,
        usedAt: document.hasFocus() ? Date.now() : usedAt,
      }),
      onEnded: (token, isRejected) => {
        const { token: current } = credentials.get()
        // Two tabs that signed in at the identity provider have different tokens of the same person.
        const isSamePerson = current !== null && !isRejected && isJwt(current) && isJwt(token)
        if (current !== token && !isSamePerson) return
        if (!isRejected) new TypedValues().forgetForms()
        credentials.set({ token: null, rejection: isRejected ? rejectionOf(token) : null })
      },
    })
  } catch {
    return null
  }
}

function use(token: string): void {
  if (credentials.get().token === null) credentials.set({ token, rejection: null })
  stopLooking()
}

function stopLooking(): void {
  if (!isLookingForToken.get()) return
  const kept = credentials.get().token === null ? (storage?.loadKept() ?? null) : null
  if (kept !== null) credentials.set({ token: kept, rejection: null })
  isLookingForToken.set(false)
  linkStorage?.save(null)
  if (linkToken !== null) offer(linkToken)
  linkToken = null
}

/** Offers the token of a link, unless it is in use. */
export function offer(token: string): void {
  if (isLookingForToken.get()) {
    linkToken = token
    linkStorage?.save(token)
    return
  }
  const { token: current } = credentials.get()
  if (current === token) return
  if (isToken(token)) offeredToken.set(token)
  else if (current === null) credentials.set({ token: null, rejection: 'The link contains no valid token.' })
}

/** The token of a tab that has signed in at the identity provider meanwhile; null without one. */
export const findProviderToken = (): Promise<string | null> =>
  new Promise((resolve) => {
    tabs?.ask((token) => resolve(isJwt(token) ? token : null))
    setTimeout(() => {
      tabs?.cancel()
      resolve(null)
    }, ANSWER_MS)
  })

/** @param isKept by this device, also when all tabs are closed */
export function signIn(token: string, { isKept = false } = {}): void {
  tabs?.cancel()
  if (isKept) storage?.keep(token)
  else storage?.forget()
  storage?.mark(token, false)
  credentials.set({ token, rejection: null })
}

/**
 * Forgets the token, in all tabs that use it, and what was typed into forms.
 * @param rejection why the service rejects the token, if it does: then what was typed stays
 */
export function signOut(rejection: string | null = null): void {
  const { token } = credentials.get()
  tabs?.cancel()
  if (token !== null) {
    tabs?.end(token, rejection !== null)
    storage?.mark(token, true)
    if (rejection === null && isJwt(token)) keepSignedOut(true)
  }
  // Another one that this device keeps is not rejected.
  if (rejection === null || token === null) storage?.forget()
  else storage?.forget(token)
  if (rejection === null) new TypedValues().forgetForms()
  credentials.set({ token: null, rejection })
}

/** The organization and the limits of the token; null until they are known. */
export const MeContext = createContext<MeRecord | null>(null)

export const useMe = (): MeRecord | null => useContext(MeContext)

/** The ID of whom the identity provider has identified, which is that of all their tokens. Null for an API token. */
export function personOf({ tokenId }: MeRecord): string | null {
  const { token } = credentials.get()
  return token !== null && isJwt(token) ? tokenId : null
}

export type Scope = MeRecord['scopes'][number]

/** Whether a token may read what belongs to all tenants, which is refused to tokens of one. */
export const readsAllTenants = ({ scopes, tenantId }: MeRecord): boolean =>
  scopes.includes('read') && tenantId === null

/** Whether a token may read the audit log, which is refused to tokens of a tenant or of some agents. */
export const mayAudit = ({ scopes, tenantId, agents }: MeRecord): boolean =>
  scopes.includes('manage') && tenantId === null && agents === null

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
