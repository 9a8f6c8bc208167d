import type { UsageLimits } from '../../lib/core/usage-limits.ts'

/** What was entered. An empty field sets no limit. */
export function toLimits(form: Pick<FormData, 'get'>): UsageLimits {
  const numberOf = (name: string) => {
    const text = String(form.get(name) ?? '').trim()
    return text === '' ? null : Number(text)
  }
  const percent = numberOf('warnAt')
  return {
    maxOpenExecutions: numberOf('openRuns'),
    maxRunsPerMinute: numberOf('runsPerMinute'),
    maxCostUsd: { day: numberOf('day'), month: numberOf('month') },
    warnAt: percent === null ? null : percent / 100,
    queueWhenFull: form.get('queueWhenFull') !== null,
  }
}
