import type { TraceItem } from './trace.ts'

/** The items whose names, texts or errors contain a text, in order. Letters of either case are the same. */
export function searchTrace(items: TraceItem[], text: string, error: string | null = null): TraceItem[] {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return []
  return items.filter((item) => textsOf(item, error).some((each) => each?.toLowerCase().includes(wanted)))
}

/** @param error the message of the run's error */
function textsOf({ kind, label, step, call, wait }: TraceItem, error: string | null): (string | undefined)[] {
  if (kind === 'run') return []
  if (kind === 'failure') return [label, error ?? undefined]
  if (call) return [call.name, call.error, typeof call.result === 'string' ? call.result : undefined]
  const result = typeof step?.result === 'string' ? step.result : undefined
  return [label, step?.text, step?.model, result, ...(wait?.signals ?? [])]
}

/**
 * The row that typing leads to: the next one whose name, with or without its number, begins with what was typed. The
 * current one counts, too, after the first character. If there is none, the same character again means the next row.
 * @param typed not empty @returns the current row if there is none
 */
export function findTyped(rows: readonly TraceItem[], typed: string, current: number): number {
  const text = typed.toLowerCase()
  const [first = ''] = text
  const next = (prefix: string, after: 0 | 1) =>
    rows
      .map((_, offset) => (current + offset + after) % rows.length)
      .find((row) => namesOf(rows[row]).some((name) => name.toLowerCase().startsWith(prefix)))
  const found = next(text, text === first ? 1 : 0)
  const isRepeated = text === first.repeat(text.length)
  return found ?? (isRepeated ? next(first, 1) : undefined) ?? current
}

const namesOf = (item: TraceItem | undefined): string[] => {
  if (!item) return []
  const { label, step, call } = item
  return step && !call ? [label, `${step.number}. ${label}`] : [label]
}
