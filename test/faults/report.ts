import type { Cluster } from './cluster.ts'
import { type Evidence, repeatedResponses } from './verify-runs.ts'

export type Report = { problems: string[]; figures: [name: string, value: number | string][] }

type Measured = {
  /** How many requests of clients failed, by error code. */
  clientErrors: Record<string, number>
  seconds: { faults: number; settling: number }
}

const MAX_PROBLEMS = 25

export function figuresOf(
  cluster: Cluster,
  evidence: Evidence,
  { clientErrors, seconds }: Measured,
): Report['figures'] {
  const { observations, records, modelRequests, toolCalls, kills } = evidence
  const { services, monitor, proxies } = cluster
  const sum = (select: (counts: Cluster['services'][number]['counts']) => number) =>
    services.reduce((total, { counts }) => total + select(counts), 0)
  const computed = cluster.computedSteps()
  const idempotencyKeys = new Set(toolCalls.map(({ key }) => key)).size
  const markers = new Set(records.map(({ input }) => input.marker)).size
  const errors = records.flatMap(({ error }) => (error ? [error.code] : []))
  const countByStatus = (status: string) => records.filter((record) => record.status === status).length

  return [
    ['runs requested', observations.length],
    ['accepted', observations.filter(({ executionId }) => executionId !== null).length],
    ['deleted', observations.filter(({ isDeleted }) => isDeleted).length],
    ['executions', records.length],
    ['duplicates', records.length - markers],
    ['hostile', observations.filter(({ run }) => run.kind === 'hostile').length],
    ['SUCCESS', countByStatus('SUCCESS')],
    ...tally(errors).map(([code, count]): [string, number] => [`ERROR ${code}`, count]),
    ['IN_PROGRESS at the end', countByStatus('IN_PROGRESS')],
    ['kills', kills],
    ['  per second', (kills / seconds.faults).toFixed(2)],
    ['  of gateways, with their runners', cluster.kills().gateways],
    ['  of runners', cluster.kills().runners],
    ['runners paused', sum(({ pauses }) => pauses)],
    ['service starts', sum(({ starts }) => starts)],
    ['  failed', sum(({ failedStarts }) => failedStarts)],
    ['model requests', [...modelRequests.values()].reduce((total, requests) => total + requests, 0)],
    ['  repeated', repeatedResponses(modelRequests.values())],
    ['tool calls', toolCalls.length],
    ['  repeated', toolCalls.length - idempotencyKeys],
    ['code steps computed', computed.length],
    ['  repeated', computed.length - new Set(computed).size],
    ['checkpoints', monitor.checkpoints.size],
    ...Object.entries(clientErrors).map(([error, count]): [string, number] => [
      `client errors: ${error}`,
      count,
    ]),
    ...Object.entries(proxies).flatMap(([name, { counts }]): [string, number | string][] => [
      [`${name} requests`, counts.requests],
      [
        '  faults',
        Object.entries(counts.faults)
          .map((entry) => entry.join(' '))
          .join(', '),
      ],
    ]),
    ['seconds with faults', seconds.faults.toFixed(1)],
    ['seconds to settle', seconds.settling.toFixed(1)],
  ]
}

function tally(names: string[]): [string, number][] {
  return [...Map.groupBy(names, (name) => name)].map(([name, same]) => [name, same.length])
}

/** The figures as a table, followed by the problems. */
export function formatReport({ figures, problems }: Report): string {
  const width = Math.max(...figures.map(([name]) => name.length))
  const rows = figures.map(([name, value]) => `${name.padEnd(width)}  ${value}`)
  const shown = problems.slice(0, MAX_PROBLEMS).map((problem) => `- ${problem}`)
  const more = problems.length > shown.length ? [`- and ${problems.length - shown.length} more`] : []
  const verdict =
    problems.length === 0 ? ['No problems found.'] : [`${problems.length} problems:`, ...shown, ...more]
  return [...rows, '', ...verdict].join('\n')
}
