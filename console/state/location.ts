import { offer } from './session.ts'
import { createStore, type Store } from './store.ts'

/** Where the console is: the part of the URL after `#`, such as `/runs?status=ERROR`. */
export type Location = { path: string; query: URLSearchParams }

export type Query = Record<string, string | number | boolean | null | undefined>

/** The location in a URL fragment. One without a leading slash is the start page. */
export function parseHash(hash: string): Location {
  const text = hash.replace(/^#/, '')
  const [path = '', ...query] = text.split('?')
  return {
    path: path.startsWith('/') ? path.replace(/(?<=.)\/$/, '') : '/',
    query: new URLSearchParams(query.join('?')),
  }
}

/** A link within the console. Empty and absent values are left out of the query. */
export function toHref(path: string, query: Query = {}): string {
  const text = toSearchParams(query).toString()
  return `#${path}${text && `?${text}`}`
}

/** A link to the page that is shown, with other values in its query. */
export function hrefHere(change: Query): string {
  const { path, query } = currentLocation.get()
  return toHref(path, { ...Object.fromEntries(query), ...change })
}

/** Empty and absent values are left out. */
export function toSearchParams(query: Query): URLSearchParams {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== '') given.set(name, String(value))
  return given
}

/** The values of the `{names}` in a pattern, or null if a path does not match it. */
export function matchPath(pattern: string, path: string): Record<string, string> | null {
  const [expected, actual] = [pattern.split('/'), path.split('/')]
  if (expected.length !== actual.length) return null
  const values: Record<string, string> = {}
  for (const [index, part] of expected.entries()) {
    const given = actual[index] ?? ''
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    if (name === undefined && part !== given) return null
    if (name !== undefined) values[name] = decodeSegment(given)
  }
  return values
}

/** A path of segments that can contain any character. */
export const toPath = (...segments: string[]): string => `/${segments.map(encodeURIComponent).join('/')}`

function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The token in the fragment of a sign-in link (`#token=…`), if it is one. */
export const tokenIn = (hash: string): string | null =>
  hash.startsWith('#token=') ? new URLSearchParams(hash.slice(1)).get('token') : null

/** Fragments of the URL tell pages apart: one document serves all below any base path (docs/decisions/0040). */
export const currentLocation: Store<Location> = createStore(parseHash(''))

let currentHash: string | null = null

function update(): void {
  if (window.location.hash === currentHash) return
  const last = currentLocation.get().path
  currentHash = window.location.hash
  const location = parseHash(currentHash)
  currentLocation.set(location)
  if (location.path !== last) window.scrollTo(0, 0)
}

export function startRouter(): void {
  // The browser would restore a position before the page has its content.
  history.scrollRestoration = 'manual'
  update()
  window.addEventListener('hashchange', () => {
    readSignInLink()
    update()
  })
  window.addEventListener('popstate', update)
}

/** @param href of `toHref` */
export function navigate(href: string, options: { replace?: boolean } = {}): void {
  history[options.replace ? 'replaceState' : 'pushState'](null, '', href)
  update()
}

/** Offers to sign in with the token in the URL, and removes it from there. */
export function readSignInLink(): void {
  const token = tokenIn(window.location.hash)
  if (token === null) return
  history.replaceState(null, '', `${window.location.pathname}${window.location.search}#/`)
  offer(token)
}

/** Identifies the entry of the browser's history that is shown, where the browser tells. */
export const historyKey = (): string | undefined =>
  (window as { navigation?: { currentEntry?: { key?: string } | null } }).navigation?.currentEntry?.key
