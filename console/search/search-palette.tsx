import './search.css'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Text, VisibleText } from '../components/visible-text.tsx'
import type { Item } from './find.ts'
import { type Pages, useResults } from './use-results.ts'

type Props = {
  pages: Pages
  /** Closes the search, and then goes there. */
  onChoose: (href: string) => void
}

/** Finds pages, agents, tenants, and what an ID belongs to, while one types. */
export function SearchPalette({ pages, onChoose }: Props) {
  const id = useId()
  const [text, setText] = useState('')
  /** The result that was chosen with a key or the mouse, which keeps its place if others arrive; else the first. */
  const [active, setActive] = useState<string>()
  const input = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => input.current?.focus(), [])
  const { items, note, retry } = useResults(text, pages)
  const found = items.findIndex((item) => keyOf(item) === active)
  const index = Math.max(found, 0)
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [index])

  function onKeyDown(event: KeyboardEvent) {
    if (event.isComposing || items.length === 0) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setActive(keyOf(items.at((index + step) % items.length) as Item))
    else if (event.key === 'Enter') open(event, items[index])
    else return
    event.preventDefault()
  }

  /** In another tab as links do it: with Ctrl, or Command. */
  function open(event: KeyboardEvent | MouseEvent, item: Item | undefined) {
    if (!item) return
    if (event.ctrlKey || event.metaKey) window.open(item.href, '_blank', 'noopener')
    else onChoose(item.href)
  }

  return (
    <div class="stack search-palette">
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="Search for an ID, a key, an agent, a tenant, an error code or a page"
        placeholder="ID, key, agent, tenant, error code or page"
        aria-expanded={items.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={items.length > 0 ? `${id}-${index}` : undefined}
        aria-describedby={`${id}-note`}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          setActive(undefined)
        }}
        onKeyDown={onKeyDown}
      />
      <div ref={list} id={`${id}-list`} role="listbox" aria-label="Results" class="stack search-results">
        {items.map((item, position) => (
          <a
            key={keyOf(item)}
            id={`${id}-${position}`}
            role="option"
            tabIndex={-1}
            href={item.href}
            aria-selected={position === index}
            onMouseMove={() => setActive(keyOf(item))}
            onClick={(event) => {
              event.preventDefault()
              open(event, item)
            }}
          >
            <span class="search-kind">{item.kind}</span>
            <VisibleText text={item.title} />
            {item.detail && <VisibleText class="muted" text={item.detail} />}
          </a>
        ))}
      </div>
      <div class="toolbar">
        <Text id={`${id}-note`} class="muted" role="status" text={note} />
        {retry && <Button label="Retry" class="small" onClick={retry} />}
      </div>
    </div>
  )
}

const keyOf = ({ kind, href }: Item): string => `${kind} ${href}`
