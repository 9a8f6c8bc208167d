import { useId, useMemo } from 'preact/hooks'
import { formatCount } from '../../format/numbers.ts'
import type { Issue } from '../check/check-text.ts'
import { IssueList } from './issue-list.tsx'

const SHOWN_LINES = 12
const SHOWN_COLUMNS = 160
/** Lines around a mistake. */
const AROUND = 60

type Props = { text: string; label: string; issues: Issue[]; onClear?: (() => void) | undefined }

/** A text that is too large for a control: how it begins, and its mistakes with what is around them. */
export function LargeText({ text, label, issues, onClear }: Props) {
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
    <section class="large-text" aria-label={label}>
      <p>
        <strong>{formatCount(text.length)} characters</strong> of JSON: more than can be edited here. They are
        sent as they are.{' '}
        {onClear && (
          <button type="button" class="small" onClick={onClear}>
            Clear
          </button>
        )}
      </p>
      <pre class="code">{beginning}…</pre>
      <IssueList id={id} issues={issues} onSelect={() => undefined} />
      {issues.slice(0, 1).map(({ offset }) => (
        <pre key={offset} class="code">
          {text.slice(Math.max(offset - AROUND, 0), offset)}
          <mark>{text.slice(offset, offset + AROUND)}</mark>
        </pre>
      ))}
    </section>
  )
}
