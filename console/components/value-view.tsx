import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { parseJsonText } from '../api/request.ts'
import { CopyButton } from './button.tsx'
import { StartButton, useAction } from './dialog.tsx'
import { formatBytes } from './format.ts'
import { entriesOf, printJson } from './json-tree.ts'
import { JsonView, TextPortions } from './json-view.tsx'
import { Markdown } from './markdown.tsx'
import { ErrorBox, Segments } from './page.tsx'
import { Text } from './visible-text.tsx'

const VIEWS = { text: 'Text', markdown: 'Markdown', json: 'JSON' }

type View = keyof typeof VIEWS

type Props = {
  title: string
  note?: ComponentChildren
  level?: 2 | 3
  value: unknown
  label: string
  /** Bytes of a value that was left out, and how to load it. */
  omitted?: { bytes: number; load: () => Promise<void> } | undefined
  maxRows?: number
}

/** A value with its title: as a text, as Markdown or as JSON. */
export function ValueView({ title, note, level = 3, value, label, omitted, maxRows = 20 }: Props) {
  const [chosen, setView] = useState<View | null>(null)
  const view = chosen ?? (typeof value === 'string' ? 'text' : 'json')
  const Heading = level === 2 ? 'h2' : 'h3'
  return (
    <div class="value">
      <div class="actions value-head">
        <Heading>{title}</Heading>
        {note}
        {!omitted && (
          <span class="actions value-tools">
            {hasText(value) && (
              <Segments label={`View of ${label}`} choices={VIEWS} chosen={view} onChoose={setView} />
            )}
            <CopyButton text={() => toCopy(value)} subject={label} />
          </span>
        )}
      </div>
      {omitted ? (
        <OmittedValue {...omitted} label={label} />
      ) : view === 'json' ? (
        <JsonView value={parsedOf(value)} label={label} maxRows={maxRows} hasCopy={false} />
      ) : (
        <Texts value={value} isMarkdown={view === 'markdown'} />
      )}
    </div>
  )
}

/** Whether it has texts of its own to show, which JSON shows with escapes. */
const hasText = (value: unknown): boolean =>
  typeof value === 'string' ||
  (typeof value === 'object' &&
    value !== null &&
    entriesOf(value, 50).some(([, each]) => typeof each === 'string'))

/** As text, exactly what it is; of other values their JSON. */
const toCopy = (value: unknown): string => (typeof value === 'string' ? value : printJson(value))

/** Characters of a text that may be JSON. */
const MAX_PARSED = 500_000

/** A text that is an object or a list in JSON is shown as one. */
function parsedOf(value: unknown): unknown {
  if (typeof value !== 'string' || value.length > MAX_PARSED || !/^\s*[[{]/.test(value)) return value
  try {
    return parseJsonText(value)
  } catch {
    return value
  }
}

const MAX_FIELDS = 50

function Texts({ value, isMarkdown }: { value: unknown; isMarkdown: boolean }) {
  if (typeof value === 'string') return <OneText text={value} isMarkdown={isMarkdown} />
  if (typeof value !== 'object' || value === null) return <OneText text={String(value)} isMarkdown={false} />
  return (
    <dl class="value-texts">
      {entriesOf(value, MAX_FIELDS).map(([name, each]) => (
        <div key={name}>
          <Text as="dt" text={name} />
          <dd>
            {typeof each === 'string' ? (
              <OneText text={each} isMarkdown={isMarkdown} />
            ) : (
              <OneText text={printJson(each)} isMarkdown={false} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}

const OneText = ({ text, isMarkdown }: { text: string; isMarkdown: boolean }) =>
  isMarkdown ? (
    <Markdown text={text} />
  ) : (
    <div class="long-text">
      <TextPortions text={text} />
    </div>
  )

function OmittedValue({ bytes, load, label }: { bytes: number; load: () => Promise<void>; label: string }) {
  const loading = useAction(load)
  return (
    <>
      {loading.error && <ErrorBox error={loading.error} />}
      <p>
        <StartButton
          of={loading}
          label={`Load ${formatBytes(bytes)}`}
          busy="Loading…"
          aria-label={`Load ${label}, ${formatBytes(bytes)}`}
        />{' '}
        <span class="muted">It is large, and is loaded on request.</span>
      </p>
    </>
  )
}
