import type { SignInSettings } from '../../lib/console-server/sign-in-settings.ts'
import { isJsonObject, tryParseJson } from '../../lib/core/json/json.ts'
import { openStorage, readText, writeText } from './browser-storage.ts'
import { createStore, type Store } from './store.ts'

/** What this tab keeps while its user is at the identity provider. `page`: the fragment to return to. */
type PendingSignIn = { state: string; verifier: string; page: string }

/** What the identity provider has sent the browser back with (RFC 6749, section 4.1.2; RFC 9207). */
export type ProviderResponse = {
  code: string | null
  error: string | null
  description: string | null
  issuer: string | null
  /** Null if this tab has not asked for the response, or has used it before: nothing of it can be trusted. */
  pending: PendingSignIn | null
}

/** A sign-in that begins with the page: the browser returns from the provider, or the page was loaded again. */
type ArrivingSignIn = { kind: 'returned'; response: ProviderResponse } | { kind: 'resumed' }

/** Null as soon as somebody is signed in, or the sign-in has failed. */
export const arrivingSignIn: Store<ArrivingSignIn | null> = createStore<ArrivingSignIn | null>(null)

/** Null if the service has no identity provider for the console. */
export function readSignInSettings(): SignInSettings | null {
  const content = document.querySelector<HTMLMetaElement>('meta[name="sign-in"]')?.content
  return content ? JSON.parse(content) : null
}

/** Each stage on a host has a console of its own: they differ in their path. */
const keyOf = (name: string) => `agent-execution-service.${name} ${window.location.pathname}`
const PENDING = 'sign-in'
const RESUME = 'resume'
const SIGNED_OUT = 'provider-signed-out'

/** @returns false if the browser does not keep it: then nobody can return */
export function keepPending(pending: PendingSignIn): boolean {
  const text = JSON.stringify(pending)
  const storage = openStorage('sessionStorage')
  return writeText(storage, keyOf(PENDING), text) && readText(storage, keyOf(PENDING)) === text
}

/** Takes the response of the provider out of the address, before anything else sees it. It is used once. */
export function takeProviderResponse(): void {
  if (!readSignInSettings()) return
  const isResumed = takeResume()
  const query = new URLSearchParams(window.location.search)
  if (query.has('code') || query.has('error')) {
    const pending = takePending(query.get('state'))
    history.replaceState(null, '', `${window.location.pathname}${pending?.page ?? window.location.hash}`)
    const [code, error, description, issuer] = ['code', 'error', 'error_description', 'iss'].map((name) =>
      query.get(name),
    )
    const given = { code: code ?? null, error: error ?? null, description: description ?? null }
    arrivingSignIn.set({ kind: 'returned', response: { ...given, issuer: issuer ?? null, pending } })
  } else if (isResumed) arrivingSignIn.set({ kind: 'resumed' })
}

/** Another one is kept: a link of somebody else must not end a sign-in. */
function takePending(state: string | null): PendingSignIn | null {
  const storage = openStorage('sessionStorage')
  const pending = readPending(readText(storage, keyOf(PENDING)))
  if (state === null || pending?.state !== state) return null
  writeText(storage, keyOf(PENDING), null)
  return pending
}

function readPending(text: string | null): PendingSignIn | null {
  const value = tryParseJson(text ?? '')
  if (!isJsonObject(value)) return null
  const { state, verifier, page } = value
  if (typeof state !== 'string' || typeof verifier !== 'string' || typeof page !== 'string') return null
  return { state, verifier, page: page.startsWith('#/') ? page : '#/' }
}

function takeResume(): boolean {
  const storage = openStorage('sessionStorage')
  const isKept = readText(storage, keyOf(RESUME)) !== null
  keepResume(false)
  return isKept && !wasSignedOut()
}

/** Tokens are in memory only: a tab that is loaded again signs in again, if it was signed in by the provider. */
export function keepResume(isKept: boolean): void {
  if (readSignInSettings()) writeText(openStorage('sessionStorage'), keyOf(RESUME), isKept ? 'yes' : null)
}

/** The provider may still know who was here: whoever comes next has to say who they are. */
export function keepSignedOut(isKept: boolean): void {
  if (readSignInSettings()) writeText(openStorage('localStorage'), keyOf(SIGNED_OUT), isKept ? 'yes' : null)
}

export const wasSignedOut = (): boolean => readText(openStorage('localStorage'), keyOf(SIGNED_OUT)) !== null
