import { useState } from 'preact/hooks'
import type { ComparedLine } from '../../lib/contract/compare-versions.ts'
import { formatCount } from '../components/format.ts'
import { VisibleText } from '../components/visible-text.tsx'

/** Adjacent lines. `start`: the index of the first. `isFolded`: none differs, nor is near one that does. */
type DiffPart = { start: number; lines: ComparedLine[]; isFolded: boolean }

/** Unchanged lines that are shown around a difference. */
const CONTEXT = 3

/** Splits compared lines into parts to show, and parts of several lines to fold. */
export function foldLines(lines: ComparedLine[]): DiffPart[] {
  const isNear = lines.map(() => false)
  for (const [index, { kind }] of lines.entries())
    if (kind !== 'same') isNear.fill(true, Math.max(index - CONTEXT, 0), index + CONTEXT + 1)
  const parts: DiffPart[] = []
  for (const [index, line] of lines.entries()) {
    const isFolded = !isNear[index]
    const last = parts.at(-1)
    if (last?.isFolded === isFolded) last.lines.push(line)
    else parts.push({ start: index, lines: [line], isFolded })
  }
  // One line takes no more room than the button that would show it.
  return parts.map((part) => (part.lines.length === 1 ? { ...part, isFolded: false } : part))
}

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
          <span>
            <span class="visually-hidden">{WORDS[kind]}</span>
            <VisibleText text={text} />
          </span>
        </div>
      ))}
    </>
  )
}
