import { formatNumber, markdownTable } from '../../../bench/report.ts'
import type { SoakReport } from './run-soak.ts'

const MAX_VIOLATIONS = 25

/** The report as Markdown. */
export function formatSoakReport({ minutes, capacity, perSecond, periods, growth, violations }: SoakReport) {
  const latencies = periods.map(({ operations, errors, p99Ms, machineLoad, computationMs }, index) => ({
    period: index + 1,
    operations,
    errors,
    'p99 ms': formatNumber(p99Ms),
    'machine load': formatNumber(machineLoad),
    'fixed computation ms': formatNumber(computationMs),
  }))
  const byOperation = Object.keys(periods[0]?.p99MsByOperation ?? {}).map((name) => ({
    'p99 ms of': name,
    ...Object.fromEntries(
      periods.map(({ p99MsByOperation }, index) => [
        `period ${index + 1}`,
        formatNumber(p99MsByOperation[name] ?? 0),
      ]),
    ),
  }))
  const held = periods.flatMap(({ processes }, index) =>
    processes.map(({ process, rssMiB, heapMiB, sockets, files }) => ({
      process,
      'after period': index + 1,
      'RSS MiB': formatNumber(rssMiB),
      'heap MiB': formatNumber(heapMiB),
      sockets,
      files,
    })),
  )
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
    markdownTable(byOperation),
    markdownTable(held.toSorted((a, b) => a.process.localeCompare(b.process))),
    markdownTable(grown),
    violations.length === 0 ? 'No violations.' : [`${violations.length} violations:`, ...shown].join('\n'),
  ].join('\n\n')
}
