import { useId } from 'preact/hooks'
import { formatCountOf } from '../components/format.ts'
import { VisibleText } from '../components/visible-text.tsx'

/** A mistake to go to. */
export type SummaryItem = { key: string; label: string; text: string; onSelect: () => void }

const MAX_SHOWN = 20

/** How many mistakes there are, and links to their fields. */
export function IssueSummary({ items }: { items: SummaryItem[] }) {
  const id = useId()
  if (items.length === 0) return null
  return (
    <section class="issue-summary" aria-labelledby={id}>
      <h3 id={id}>{formatCountOf(items.length, 'error')}</h3>
      <ul>
        {items.slice(0, MAX_SHOWN).map(({ key, label, text, onSelect }) => (
          <li key={key}>
            <button type="button" class="link" onClick={onSelect}>
              <VisibleText text={label === '' ? 'The input' : label} />
            </button>{' '}
            <VisibleText text={text} />
          </li>
        ))}
        {items.length > MAX_SHOWN && (
          <li class="muted">and {formatCountOf(items.length - MAX_SHOWN, 'other error')}</li>
        )}
      </ul>
    </section>
  )
}
