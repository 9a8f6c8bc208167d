import { useId, useMemo, useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { formatCount } from '../components/format.ts'
import { Text, toVisible, VisibleText } from '../components/visible-text.tsx'
import type { Issue } from './check-text.ts'
import { LineIndex } from './json-node.ts'
import { isEditable, useLargeInput } from './use-large-input.ts'

type Props = {
  text: string
  /** What the JSON is, for screen readers. */
  label: string
  issues: Issue[]
  onChange: (text: string) => void
}

/** A JSON text with line numbers, and its mistakes at their lines. */
function JsonEditor({ text, label, issues, onChange }: Props) {
  const issuesId = useId()
  const area = useLargeInput<HTMLTextAreaElement>(onChange)
  const [scrollTop, setScrollTop] = useState(0)
  const lineCount = useMemo(() => new LineIndex(text).count, [text])

  function goTo({ offset, line }: Issue) {
    const element = area.current
    if (!element) return
    element.focus()
    element.setSelectionRange(offset, offset)
    const lineHeight = element.scrollHeight / Math.max(lineCount, 1)
    element.scrollTop = Math.max((line - 4) * lineHeight, 0)
  }

  return (
    <div class="json-editor">
      <div class="json-editor-box">
        <Gutter lineCount={lineCount} issues={issues} top={scrollTop} />
        <textarea
          ref={area}
          class="mono"
          aria-label={label}
          aria-describedby={issuesId}
          aria-invalid={issues.length > 0}
          value={text}
          rows={Math.min(Math.max(lineCount + 1, 8), 30)}
          wrap="off"
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
          onScroll={({ currentTarget }) => setScrollTop(currentTarget.scrollTop)}
        />
      </div>
      <IssueList id={issuesId} issues={issues} onSelect={goTo} />
    </div>
  )
}

/** Line numbers that follow the text. Screen readers are told the line with each mistake instead. */
function Gutter({ lineCount, issues, top }: { lineCount: number; issues: Issue[]; top: number }) {
  const lines = useMemo(
    () => [...Map.groupBy(issues, ({ line }) => line)].sort(([a], [b]) => a - b),
    [issues],
  )
  const parts: (string | { line: number; messages: string })[] = []
  let next = 1
  for (const [line, found] of lines) {
    parts.push(numbersOf(next, line - 1))
    parts.push({ line, messages: found.map(({ message }) => message).join('\n') })
    next = line + 1
  }
  parts.push(numbersOf(next, lineCount))
  return (
    <div class="json-editor-gutter" aria-hidden="true">
      <div style={{ transform: `translateY(${-top}px)` }}>
        {parts.map((part) =>
          typeof part === 'string' ? (
            part
          ) : (
            <span key={part.line} class="json-editor-issue" title={toVisible(part.messages)}>
              {part.line}
            </span>
          ),
        )}
      </div>
    </div>
  )
}

const numbersOf = (first: number, last: number): string =>
  last < first ? '' : `${Array.from({ length: last - first + 1 }, (_, index) => first + index).join('\n')}\n`

const MAX_SHOWN = 20

/** Mistakes with links to where they are. */
export const IssueLinks = ({ items }: { items: { label: string; text: string; onSelect: () => void }[] }) => (
  <ul class="plain-list">
    {items.slice(0, MAX_SHOWN).map(({ label, text, onSelect }, index) => (
      <li key={`${index} ${label} ${text}`}>
        <Button label={<VisibleText text={label} />} class="link" onClick={onSelect} />{' '}
        <VisibleText text={text} />
      </li>
    ))}
    {items.length > MAX_SHOWN && <li class="muted">and {items.length - MAX_SHOWN} more</li>}
  </ul>
)

type ListProps = { id: string; issues: Issue[]; onSelect: (issue: Issue) => void }

/** By their lines. Choosing one moves the cursor there. Never unmounted: screen readers notice changes. */
const IssueList = ({ id, issues, onSelect }: ListProps) => (
  <div id={id} class="issues" aria-live="polite">
    {issues.length > 0 && (
      <IssueLinks
        items={issues.map((issue) => ({
          ...{ label: `Line ${issue.line}, column ${issue.column}`, text: issue.message },
          onSelect: () => onSelect(issue),
        }))}
      />
    )}
  </div>
)

const SHOWN_LINES = 12
const SHOWN_COLUMNS = 160
const AROUND = 60

type LargeTextProps = { text: string; label: string; issues: Issue[]; onClear: () => void }

/** A text that is too large for a control: how it begins, and its mistakes with what is around them. */
function LargeText({ text, label, issues, onClear }: LargeTextProps) {
  const id = useId()
  const beginning = useMemo(
    () =>
      text
        .slice(0, SHOWN_LINES * SHOWN_COLUMNS)
        .split('\n', SHOWN_LINES)
        .map((line) => (line.length > SHOWN_COLUMNS ? `${line.slice(0, SHOWN_COLUMNS)}…` : line))
        .join('\n'),
    [text],
  )
  return (
    <section class="card large-text" aria-label={label}>
      <p>
        <strong>{formatCount(text.length)} characters</strong> of JSON: more than can be edited here. They are
        sent as they are. <Button label="Clear" class="small" onClick={onClear} />
      </p>
      <pre class="mono">
        <VisibleText text={beginning} />…
      </pre>
      <IssueList id={id} issues={issues} onSelect={() => undefined} />
      {issues.slice(0, 1).map(({ offset }) => (
        <pre key={offset} class="mono">
          <VisibleText text={text.slice(Math.max(offset - AROUND, 0), offset)} />
          <Text as="mark" text={text.slice(offset, offset + AROUND)} />
        </pre>
      ))}
    </section>
  )
}

type InputProps = Pick<Props, 'text' | 'label' | 'issues' | 'onChange'> & {
  /** In place of a text that is too large to be edited. */
  onClear: () => void
}

export const JsonInput = ({ text, label, issues, onChange, onClear }: InputProps) =>
  isEditable(text) ? (
    <JsonEditor text={text} label={`${label} as JSON`} issues={issues} onChange={onChange} />
  ) : (
    <LargeText text={text} label={label} issues={issues} onClear={onClear} />
  )
