import type { Cluster } from './cluster.ts'
import { RUN_FAULTS, type RunFault } from './database/targeted-faults.ts'
import { isChild } from './load/model-runs.ts'
import type { Evidence } from './verify/verify-runs.ts'
import { repeatedResponses } from './verify/verify-spending.ts'

export type Report = { problems: string[]; figures: [name: string, value: number | string][] }

type Measured = {
  /** How many requests of clients failed, by error code. */
  clientErrors: Record<string, number>
  /** How many clients closed their connection, by the moment. */
  hangUps: Record<string, number>
  seconds: { faults: number; settling: number; delivering: number }
}

const MAX_PROBLEMS = 25

export function figuresOf(
  cluster: Cluster,
  evidence: Evidence,
  { clientErrors, hangUps, seconds }: Measured,
): Report['figures'] {
  const { observations, records, modelRequests, toolCalls, kills } = evidence
  const { services, monitor, faults, proxies } = cluster
  const sum = (select: (counts: Cluster['services'][number]['counts']) => number) =>
    services.reduce((total, { counts }) => total + select(counts), 0)
  const computed = cluster.computedSteps()
  const idempotencyKeys = new Set(toolCalls.map(({ key }) => key)).size
  const planned = records.filter(({ input }) => input.marker !== undefined)
  const markers = new Set(planned.map(({ input }) => input.marker)).size
  const batches = cluster.runners.flatMap((runner) => runner.batches)
  const several = batches.filter(({ invalid, valid }) => invalid + valid > 1)
  const errors = records.flatMap(({ error }) => (error ? [error.code] : []))
  const countByStatus = (status: string) => records.filter((record) => record.status === status).length

  return [
    ['runs requested', observations.length],
    ['accepted', observations.filter(({ executionId }) => executionId !== null).length],
    ['deleted', observations.filter(({ isDeleted }) => isDeleted).length],
    ['executions', records.length],
    ['  of agents called as tools', planned.filter(({ input }) => isChild(String(input.marker))).length],
    ['  of clients that hung up', records.length - planned.length],
    ['duplicates', planned.length - markers],
    ['hostile', observations.filter(({ run }) => run.kind === 'hostile').length],
    ['waiting', observations.filter(({ run }) => run.kind === 'waiting').length],
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
    ['outages', evidence.outages],
    ...RUN_FAULTS.map((fault): [string, string] => {
      const requests = cluster.targeted.counts[fault]
      return [`"${fault}"`, [`${requests} requests`, ...endsOf(fault, evidence)].join(', ')]
    }),
    ['batches of several messages', several.length],
    ['  with an invalid one', several.filter(({ invalid }) => invalid > 0).length],
    ...Object.entries(hangUps).map(([moment, count]): [string, number] => [`hung up ${moment}`, count]),
    ['model requests', [...modelRequests.values()].reduce((total, requests) => total + requests, 0)],
    ['  repeated', repeatedResponses(modelRequests.values())],
    ['  tokens', [...evidence.tokens.values()].reduce((total, tokens) => total + tokens, 0)],
    ['tool calls', toolCalls.length],
    ['  repeated', toolCalls.length - idempotencyKeys],
    ['code steps computed', computed.length],
    ['  repeated', computed.length - new Set(computed).size],
    ['checkpoints', monitor.checkpoints.size],
    ...cluster.receivers
      .received()
      .map(({ kind, requests }): [string, string] => [
        `deliveries to the receiver that ${kind}`,
        [
          `${requests.length}, of ${new Set(requests.map(({ headers }) => headers['webhook-id'])).size} events`,
          `${requests.filter(cluster.receivers.isEarly).length} before it recovered`,
        ].join(', '),
      ]),
    ['receivers that died', cluster.receivers.deaths()],
    ...Object.entries(clientErrors).map(([error, count]): [string, number] => [
      `client errors: ${error}`,
      count,
    ]),
    ...(['dynamodb', 'sqs'] as const).flatMap((name): [string, number | string][] => [
      [`${name} requests`, proxies[name].counts.requests],
      [
        '  faults',
        Object.entries(faults[name].counts)
          .map((entry) => entry.join(' '))
          .join(', '),
      ],
    ]),
    ['seconds with faults', seconds.faults.toFixed(1)],
    ['seconds to settle', seconds.settling.toFixed(1)],
    ['seconds until all events were delivered', seconds.delivering.toFixed(1)],
  ]
}

/** How the runs with a fault have ended. */
function endsOf(fault: RunFault, { observations, stored }: Evidence): string[] {
  return observations
    .filter(({ run }) => run.fault === fault)
    .map(({ executionId }) => {
      const execution = executionId === null ? undefined : stored.get(executionId)
      if (!execution) return 'nothing stored'
      return `${execution.error?.code ?? execution.status} after ${execution.attempts} attempts`
    })
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
