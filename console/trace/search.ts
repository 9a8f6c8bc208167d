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
