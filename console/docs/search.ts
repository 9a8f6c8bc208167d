/** The script of the documentation: its search, and the contents of the page, which are open where there is room. */
import type { DocsIndex } from '../../lib/console-server/docs-index.ts'
import { formatCountOf } from '../components/format.ts'
import { type FoundSection, findSections } from './find-sections.ts'

const area = document.querySelector<HTMLElement>('.docs-search')
const input = area?.querySelector('input')
if (area && input) startSearch(area, input)

const contents = document.querySelector<HTMLDetailsElement>('.docs-contents details')
if (contents && matchMedia('(min-width: 75rem)').matches) contents.open = true

function startSearch(area: HTMLElement, input: HTMLInputElement): void {
  const results = document.createElement('div')
  results.className = 'docs-results'
  results.hidden = true
  const status = document.createElement('p')
  status.setAttribute('role', 'status')
  const list = document.createElement('ol')
  list.className = 'lines'
  results.append(status, list)
  area.append(results)
  area.inert = false

  let index: Promise<DocsIndex> | undefined
  const loadIndex = () => {
    index ??= load(area.dataset.index ?? '').catch((error: unknown) => {
      index = undefined
      throw error
    })
    return index
  }

  async function search(): Promise<void> {
    const query = input.value
    if (query.trim() === '') return close()
    results.hidden = false
    try {
      const found = findSections(await loadIndex(), query)
      // Another character has been typed meanwhile.
      if (query !== input.value) return
      status.textContent = found.length === 0 ? 'Nothing found.' : formatCountOf(found.length, 'result')
      list.replaceChildren(...found.map(toItem))
    } catch {
      status.textContent = 'The service does not respond. Type again to retry.'
      list.replaceChildren()
    }
  }

  function close(): void {
    results.hidden = true
    list.replaceChildren()
    status.textContent = ''
  }

  input.addEventListener('focus', () => void loadIndex().catch(() => undefined), { once: true })
  input.addEventListener('input', () => void search())
  area.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      input.value = ''
      close()
      input.focus()
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      move([input, ...list.querySelectorAll('a')], event.key === 'ArrowDown' ? 1 : -1)
    } else if (event.key === 'Enter' && event.target === input) list.querySelector('a')?.click()
  })
  list.addEventListener('click', () => close())
  document.addEventListener('pointerdown', ({ target }) => {
    if (!area.contains(target as Node)) close()
  })
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target instanceof HTMLInputElement)
      return
    event.preventDefault()
    input.focus()
  })
}

async function load(name: string): Promise<DocsIndex> {
  const response = await fetch(name)
  if (!response.ok) throw new Error(`Status ${response.status}`)
  return response.json()
}

function move(elements: HTMLElement[], step: 1 | -1): void {
  const position = elements.indexOf(document.activeElement as HTMLElement)
  elements[Math.min(Math.max(position + step, 0), elements.length - 1)]?.focus()
}

function toItem({ href, title, heading, snippet }: FoundSection): HTMLLIElement {
  const link = document.createElement('a')
  link.href = href
  link.textContent = heading === title ? title : `${title} › ${heading}`
  const text = document.createElement('p')
  text.textContent = snippet
  const item = document.createElement('li')
  item.append(link, text)
  return item
}
