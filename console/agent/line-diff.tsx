import { useState } from 'preact/hooks'
import type { ComparedLine } from '../../lib/api/compare-versions.ts'
import { formatCount } from '../format/numbers.ts'
import { type DiffPart, foldLines } from './fold-lines.ts'

const WORDS = { same: '', added: 'Added: ', removed: 'Removed: ' }
const SIGNS = { same: ' ', added: '+', removed: '−' }

/** Two texts line by line. Long stretches without a difference are folded. */
export function LineDiff({ lines }: { lines: ComparedLine[] }) {
  return (
    <div class="line-diff code">
      {foldLines(lines).map((part) => (
        <Part key={part.start} part={part} />
      ))}
    </div>
  )
}

function Part({ part: { lines, isFolded } }: { part: DiffPart }) {
  const [isOpen, setIsOpen] = useState(!isFolded)
  if (!isOpen)
    return (
      <button type="button" class="link" onClick={() => setIsOpen(true)}>
        Show {formatCount(lines.length)} unchanged lines
      </button>
    )
  return (
    <>
      {lines.map(({ kind, text }, index) => (
        <div key={index} class={`diff-${kind}`}>
          <span class="diff-sign" aria-hidden="true">
            {SIGNS[kind]}
          </span>
          <span class="visually-hidden">{WORDS[kind]}</span>
          {text}
        </div>
      ))}
    </>
  )
}
