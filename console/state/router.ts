import { offer } from './credentials.ts'
import { type Location, parseHash, tokenIn } from './location.ts'
import { createStore, type Store } from './store.ts'

/**
 * The pages are told apart by the fragment of the URL, so that one document serves them all: it works below any stage and
 * base path, and its relative URLs stay right (docs/decisions/0040).
 */
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

/** Follows the URL. */
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

/** Signs in with the token in the URL unless another one is in use, and removes it from there. */
export function readSignInLink(): void {
  const token = tokenIn(window.location.hash)
  if (token === null) return
  history.replaceState(null, '', `${window.location.pathname}${window.location.search}#/`)
  offer(token)
}

/** Identifies the entry of the browser's history that is shown, where the browser tells. */
export const historyKey = (): string | undefined =>
  (window as { navigation?: { currentEntry?: { key?: string } | null } }).navigation?.currentEntry?.key
