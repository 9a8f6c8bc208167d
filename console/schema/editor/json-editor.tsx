import { useId, useMemo, useState } from 'preact/hooks'
import type { Issue } from '../check/check-text.ts'
import { LineIndex } from '../json/line-index.ts'
import { IssueList } from './issue-list.tsx'
import { useLargeInput } from './use-large-input.ts'

type Props = {
  text: string
  /** What the JSON is, for screen readers. */
  label: string
  issues: Issue[]
  isReadOnly?: boolean
  onChange: (text: string) => void
}

/** A JSON text with line numbers, and its mistakes at their lines. */
export function JsonEditor({ text, label, issues, isReadOnly = false, onChange }: Props) {
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
          class="code"
          aria-label={label}
          aria-describedby={issuesId}
          aria-invalid={issues.length > 0}
          value={text}
          readOnly={isReadOnly}
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
            <span key={part.line} class="json-editor-issue" title={part.messages}>
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
