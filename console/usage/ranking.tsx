import type { ComponentChildren } from 'preact'
import { formatCount } from '../components/format.ts'

type Item = {
  key: string
  name: ComponentChildren
  detail?: string
  value: number
  /** The value for people. */
  text: string
}

const SHOWN = 10

/** The highest values, with a bar for each. @param items the highest first */
export function Ranking({ items }: { items: Item[] }) {
  const max = items[0]?.value ?? 0
  const others = items.length - SHOWN
  return (
    <>
      <ul class="ranking">
        {items.slice(0, SHOWN).map(({ key, name, detail, value, text }) => (
          <li key={key}>
            <span class="ranking-name">
              {name}
              {detail && <span class="muted">{detail}</span>}
            </span>
            <span class="ranking-track" aria-hidden="true">
              <span style={{ width: `${max > 0 ? (100 * value) / max : 0}%` }} />
            </span>
            <span class="numeric">{text}</span>
          </li>
        ))}
      </ul>
      {others > 0 && <p class="muted">And {formatCount(others)} more.</p>}
    </>
  )
}
