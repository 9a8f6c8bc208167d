import { formatNumber, markdownTable } from '../../../bench/report.ts'
import type { SoakReport } from './run-soak.ts'

const MAX_VIOLATIONS = 25

/** The report as Markdown. */
export function formatSoakReport({ minutes, capacity, perSecond, periods, growth, violations }: SoakReport) {
  const latencies = periods.map(({ operations, errors, p99Ms }, index) => ({
    period: index + 1,
    operations,
    errors,
    'p99 ms': formatNumber(p99Ms),
  }))
  const grown = growth.map(({ process, resource, early, late, max }) => ({
    process,
    held: resource,
    'periods 2 and 3': formatNumber(early),
    'periods 5 and 6': formatNumber(late),
    allowed: formatNumber(max),
    result: late > max ? 'FAIL' : 'pass',
  }))
  const shown = violations.slice(0, MAX_VIOLATIONS).map((violation) => `- ${violation}`)
  return [
    `${minutes} minutes at ${formatNumber(perSecond)} operations per second; capacity ${formatNumber(capacity)}`,
    markdownTable(latencies),
    markdownTable(grown),
    violations.length === 0 ? 'No violations.' : [`${violations.length} violations:`, ...shown].join('\n'),
  ].join('\n\n')
}
