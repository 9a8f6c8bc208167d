import { useEffect, useState } from 'preact/hooks'
import { listen } from '../api/attention.ts'
import { Dialog } from '../components/dialog.tsx'
import { navigate } from '../state/location.ts'
import { lazyPart } from './lazy-page.tsx'

type Page = { label: string; href: string }

/** The button of the search, which `/` and Ctrl-K also open. Its script is loaded when it is used. */
export function Search({ pages }: { pages: Page[] }) {
  const [isOpen, setIsOpen] = useState(false)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!isShortcut(event) || document.querySelector('dialog[open]')) return
      event.preventDefault()
      setIsOpen(true)
    }
    return listen(document, { keydown: onKeyDown })
  }, [])
  const close = () => setIsOpen(false)
  function choose(href: string) {
    close()
    // Afterwards, so that the page gets the focus that the dialog returns.
    setTimeout(() => (href.startsWith('#') ? navigate(href) : window.location.assign(href)))
  }
  return (
    <>
      <button
        type="button"
        class="search-button"
        aria-keyshortcuts="/ Control+K"
        onClick={() => setIsOpen(true)}
      >
        Search
        <span class="key" aria-hidden="true">
          /
        </span>
      </button>
      {isOpen && (
        <Dialog title="Search" onClose={close}>
          <Palette pages={pages} onChoose={choose} />
        </Dialog>
      )}
    </>
  )
}

const Palette = lazyPart('the search', () => import('../search/search-palette.tsx'), 'SearchPalette')

/** What is typed into a field is not a shortcut; Ctrl-K is none of its editing keys. */
function isShortcut({ key, ctrlKey, metaKey, altKey, isComposing, target }: KeyboardEvent): boolean {
  if (altKey || isComposing) return false
  if (ctrlKey || metaKey) return key.toLowerCase() === 'k'
  return (
    key === '/' &&
    !(target instanceof Element && target.closest('input, textarea, select, [contenteditable]'))
  )
}
