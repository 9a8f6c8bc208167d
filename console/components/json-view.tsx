import './json-view.css'
import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { Button, CopyButton } from './button.tsx'
import { formatCount, formatCountOf, shorten } from './format.ts'
import { entriesOf, initialDepth, portionsOf, preview, printJson, toNode } from './json-tree.ts'
import { VisibleText } from './visible-text.tsx'

/** Entries of a container, and characters of a text, that are shown at a time: what a browser lays out in a moment. */
const ENTRIES = 100
const CHARACTERS = 4_000

type ViewProps = {
  value: unknown
  label: string
  maxRows?: number
  /** Whether it has a button of its own to copy it. */
  hasCopy?: boolean
}

/** A JSON value as a tree of text, never markup. Parts are rendered when they are opened, long ones in portions. */
export function JsonView({ value, label, maxRows = 60, hasCopy = true }: ViewProps) {
  const depth = useMemo(() => initialDepth(value, maxRows), [value, maxRows])
  return (
    <div class="json">
      {hasCopy && (
        <div class="json-toolbar">
          <CopyButton text={() => printJson(value)} subject={label} />
        </div>
      )}
      {/* Another value starts with its own levels open. */}
      <JsonPart key={depth} value={value} name={null} depth={depth} />
    </div>
  )
}

type Part = {
  value: unknown /** Null for the whole value and for items of a list. */
  name: string | null
  depth: number
}

function JsonPart({ value, name, depth }: Part) {
  const node = toNode(value)
  const label = name !== null && <Key name={name} />
  if ('size' in node) {
    if (node.size > 0) return <Container value={value} size={node.size} name={name} depth={depth} />
    return (
      <div class="json-row">
        {label}
        {node.kind === 'array' ? '[]' : '{}'}
      </div>
    )
  }
  return (
    <div class="json-row">
      {label}
      {node.kind === 'string' ? (
        <>
          <span class="json-string">"</span>
          <TextPortions text={node.text} isJson />
          <span class="json-string">"</span>
        </>
      ) : (
        <VisibleText class={`json-${node.kind}`} text={node.text} />
      )}
    </div>
  )
}

const Key = ({ name }: { name: string }) => (
  <span class="json-key">
    <VisibleText text={JSON.stringify(shorten(name, 500))} />:{' '}
  </span>
)

function Container({ value, size, name, depth }: Part & { size: number }) {
  const [isOpen, setIsOpen] = useState(depth > 0)
  const [count, setCount] = useState(ENTRIES)
  const isArray = Array.isArray(value)
  const counted = formatCountOf(size, isArray ? 'item' : 'field')
  return (
    <div>
      <button type="button" class="json-head" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        <span class="json-marker" aria-hidden="true">
          {isOpen ? '▾' : '▸'}
        </span>
        {name !== null && <Key name={name} />}
        {isOpen ? (
          <>
            {isArray ? '[' : '{'}
            <span class="visually-hidden">{counted}</span>
          </>
        ) : (
          <>
            <VisibleText text={preview(value)} /> <span class="muted">{counted}</span>
          </>
        )}
      </button>
      {isOpen && (
        <>
          <div class="json-children">
            {entriesOf(value, count).map(([key, child]) => (
              <JsonPart key={key} value={child} name={isArray ? null : key} depth={depth - 1} />
            ))}
            {size > count && (
              <Button
                label={`Show ${formatCount(Math.min(ENTRIES, size - count))} more of ${counted}`}
                class="json-more"
                onClick={() => setCount(count + ENTRIES)}
              />
            )}
          </div>
          <div class="json-row">{isArray ? ']' : '}'}</div>
        </>
      )}
    </div>
  )
}

/** A text in portions, laid out when it is asked for. @param isJson shows control characters as JSON does */
export function TextPortions({ text, isJson = false }: { text: string; isJson?: boolean }) {
  const [count, setCount] = useState(1)
  const portions = portionsOf(text, CHARACTERS, count)
  const shown = portions.reduce((sum, portion) => sum + portion.length, 0)
  return (
    <>
      {portions.map((portion, index) => (
        <VisibleText
          key={index}
          class={isJson ? 'json-string' : undefined}
          text={isJson ? JSON.stringify(portion).slice(1, -1) : portion}
        />
      ))}
      {shown < text.length && (
        <Button
          label={`Show more: ${formatCountOf(text.length - shown, 'character')} left`}
          class="json-more"
          onClick={() => setCount(count + 5)}
        />
      )}
    </>
  )
}

/** A text in a box that scrolls. @param props.label what it is, for screen readers */
export const TextBox = ({ label, children }: { label: string; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboards can only scroll what has the focus.
  <section class="box" aria-label={label} tabIndex={0}>
    <pre>{children}</pre>
  </section>
)
