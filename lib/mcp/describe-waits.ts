import type { WaitRecord } from '../contract/records/execution.ts'
import type { Wait } from '../core/wait.ts'
import { toWaitingFor } from '../core/wait.ts'

/** What ends a wait, besides time. A model must not decide for itself. */
const HINTS: Partial<Record<Wait['kind'], string>> = {
  approval: 'A person decides; a token with the scope approve reports that with decide_approval.',
  signal: 'send_signal sends a signal.',
  execution: 'get_execution with that id shows what it waits for.',
}

/** What a suspended run waits for, in sentences for people and models. About as long as `waitingFor` of a record. */
export function describeWaits(waits: Wait[]): string {
  const shown = toWaitingFor(waits)
  const omitted = waits.length - shown.length
  const parts = [...shown.map(describeWait), ...(omitted > 0 ? [`${omitted} more`] : [])]
  const hints = new Set(waits.flatMap(({ kind }) => HINTS[kind] ?? []))
  return [`The run waits for ${parts.join('; ')}.`, ...hints].join(' ')
}

function describeWait({ kind, name, until, id, signals = [] }: WaitRecord): string {
  const end = until === null ? '' : ` (until ${until})`
  switch (kind) {
    case 'approval':
      return `a decision on the approval ${id} of ${name}${end}`
    case 'signal':
      return `the signal ${signals.join(' or ')}${end}`
    case 'sleep':
      return `its time, ${until}`
    case 'retry':
      return `another attempt at the step ${name}${end}`
    case 'execution':
      return `the execution ${id} of the tool ${name}${end}`
    case 'limit':
      return `its limit ${name}${end}`
  }
}
