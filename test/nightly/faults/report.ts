import type { Cluster } from './cluster.ts'
import { RUN_FAULTS } from './database/targeted-faults.ts'
import { isChild } from './load/model-runs.ts'
import type { Evidence } from './verify/verify-runs.ts'
import { repeatedResponses } from './verify/verify-spending.ts'

export type Report = { problems: string[]; figures: [name: string, value: number | string][] }

type Measured = {
  /** How many requests of clients failed, by error code. */
  clientErrors: Record<string, number>
  /** How many clients closed their connection, by the moment. */
  hangUps: Record<string, number>
  seconds: Record<'faults' | 'settling' | 'delivering', number>
}

const MAX_PROBLEMS = 25

/** What shows that the campaign has done its work. */
export function figuresOf(
  cluster: Cluster,
  { observations, records, modelRequests, toolCalls, kills, outages }: Evidence,
  { clientErrors, hangUps, seconds }: Measured,
): Report['figures'] {
  const { services, monitor, faults, proxies, receivers, targeted } = cluster
  const computed = cluster.computedSteps()
  const children = records.filter(({ input }) => isChild(String(input.marker)))
  return [
    ['runs requested', observations.length],
    ['  accepted', observations.filter(({ executionId }) => executionId !== null).length],
    ['  deleted', observations.filter(({ isDeleted }) => isDeleted).length],
    ['executions', records.length],
    ['  of agents called as tools', children.length],
    ['  by end', tally(records.map(({ status, error }) => error?.code ?? status))],
    ['kills', kills],
    ['  of gateways, with their runners', cluster.kills().gateways],
    ['runners paused', services.reduce((sum, { counts }) => sum + counts.pauses, 0)],
    ['outages', outages],
    ...RUN_FAULTS.map((fault): [string, string] => [`"${fault}"`, `${targeted.counts[fault]} requests`]),
    ['clients that hung up', listed(hangUps)],
    ['model responses repeated', repeatedResponses(modelRequests.values())],
    ['tool calls repeated', toolCalls.length - new Set(toolCalls.map(({ key }) => key)).size],
    ['code steps repeated', computed.length - new Set(computed).size],
    ['checkpoints', monitor.checkpoints.size],
    ...receivers
      .received()
      .map(({ kind, requests }): [string, number] => [
        `deliveries to the receiver that ${kind}`,
        requests.length,
      ]),
    ['client errors', listed(clientErrors)],
    ['requests to DynamoDB', proxies.dynamodb.counts.requests],
    ['  with faults', listed(faults.dynamodb.counts)],
    ['requests to SQS', proxies.sqs.counts.requests],
    ['  with faults', listed(faults.sqs.counts)],
    ['seconds', listed(seconds)],
  ]
}

const listed = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${Math.round(count)}`)
    .join(', ')

const tally = (names: string[]): string =>
  [...Map.groupBy(names, (name) => name)].map(([name, same]) => `${name} ${same.length}`).join(', ')

/** The figures as a table, followed by the problems. */
export function formatReport({ figures, problems }: Report): string {
  const width = Math.max(...figures.map(([name]) => name.length))
  const rows = figures.map(([name, value]) => `${name.padEnd(width)}  ${value}`)
  const shown = problems.slice(0, MAX_PROBLEMS).map((problem) => `- ${problem}`)
  return [...rows, '', `${problems.length} problems${shown.length > 0 ? ':' : ''}`, ...shown].join('\n')
}
