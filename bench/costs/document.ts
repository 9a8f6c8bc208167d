import { settingsOf } from '../../infra/functions/function-settings.ts'
import { UNITS } from '../../lib/metrics.ts'
import { ASSUMPTIONS, type Bill, billedMs, billOf, secondOfRunning, storageOf, totalOf } from './compute.ts'
import { PRICES } from './prices.ts'
import type { Measured, RunUse } from './usage.ts'

/** Each metric as a whole and by three outcomes. */
const METRICS = Object.keys(UNITS).length * 4

const dollars = (amount: number) => `$${amount.toFixed(2)}`
const row = (cells: (string | number)[]) => `| ${cells.join(' | ')} |`
const head = (names: string[]) => [row(names), row(names.map((_, index) => (index === 0 ? '---' : '---:')))]

/** The text of `docs/costs.md`. */
export function costsDocument({ date, node, runs, uses }: Measured, alarms: number): string {
  const { roundTripMs, megabytesOfACore, platformLogBytes, accessLogBytes, tracedShare } = ASSUMPTIONS
  const bills = uses.map((use) => ({ use, bill: billOf(use) }))
  return `# What it costs

A million runs of an agent that does nothing, beyond the model and the time that an agent takes, in US dollars. Written by
\`npm run costs\`, which measures and computes; \`npm run costs -- --quick\` computes again from the last measurement.

${head(['a million runs', ...uses.map(({ kind }) => kind)]).join('\n')}
${partsOf(bills.map(({ bill }) => bill)).join('\n')}
${row(['**all**', ...bills.map(({ bill }) => `**${dollars(totalOf(bill))}**`)])}
${row(['to keep them, a month', ...uses.map((use) => dollars(storageOf(use)))])}

The largest part is ${bills.map(({ use, bill }) => dominant(use, bill)).join(', ')}.
An asynchronous run is counted with one call that starts it and one that reads its result. **Every second that a run takes, a million times, costs ${dollars(secondOfRunning('run-agent'))} more**, since Lambda bills waiting for a
model too (${settingsOf('run-agent').memoryMb} MB): from the first second on that is the largest part. Where asynchronous runs mostly wait, the
setting \`runnerBatch\` lets up to ten of them share that price, and \`agentMemoryMb\` halves it.

Every month: ${dollars(PRICES.dashboardMonths + alarms * PRICES.alarmMonths)} for the dashboard and ${alarms} alarms (the setting \`watching\`), and in months with runs
${dollars(METRICS * PRICES.metricMonths)} for ${METRICS} metrics, by the hour in which there are any. The sweeper runs 43,200 times (${dollars(sweeps())}). Lambda
polls the two queues also when they are empty: five long polls of 20 s at a time each, about 1.3 million requests
(${dollars(1.3e6 * PRICES.queueRequests)}), most of which is in the free tier. API Gateway, Lambda's runs, the table and everything else cost nothing
while nothing runs.

## How it is computed

Counted ${date}, on the bundles that are deployed, under the Lambda runtime contract, ${runs} warm runs each, on Node ${node}:

${head(['kind', 'function', 'processor ms', 'requests to the table', 'read units', 'write units', 'log bytes', 'billed ms', 'MB']).join('\n')}
${uses.flatMap(functionRows).join('\n')}

Stored of a run: ${uses.map(({ kind, storedBytes }) => `${storedBytes} bytes (${kind})`).join(', ')}, index entries included. Write units count every index that a
write changes. The cap on open executions is counted once in many runs: hence the part of a Query.

Taken for granted, since it cannot be measured without an account: a request to DynamoDB or SQS takes ${roundTripMs} ms; a function has a
core's share of ${megabytesOfACore} MB as AWS says, and Arm is as fast as this machine; Lambda and API Gateway log ${platformLogBytes} and ${accessLogBytes} bytes a call; X-Ray
takes ${tracedShare * 100} % (at a few runs a second it takes more of them, up to one a second). Warm functions: a cold start adds its load time.
No free tier, no volume discount, no data transfer out, no WAF, AWS's own keys. The authorizer is asked once a minute and token.

Public prices of ${PRICES.region} on ${PRICES.date}; \`bench/costs/prices.ts\` names the page of each. They were compared with copies of pages
about them, since AWS's own could not be called where this was written: look before you rely on them.

${head(['price', 'dollars']).join('\n')}
${priceRows().join('\n')}
`
}

function partsOf(bills: Bill[]): string[] {
  const [first] = bills as [Bill]
  return (Object.keys(first) as (keyof Bill)[]).map((part) =>
    row([part, ...bills.map((bill) => dollars(bill[part]))]),
  )
}

function dominant({ kind }: RunUse, bill: Bill): string {
  const [name, amount] = Object.entries(bill).reduce((max, part) => (part[1] > max[1] ? part : max))
  const share = Math.round((100 * amount) / totalOf(bill))
  return `${name} where they are ${kind} (${share} %)`
}

function functionRows({ kind, functions }: RunUse): string[] {
  return functions.map((use) => {
    const requests = Object.entries(use.requests).map(([operation, count]) => `${count} ${operation}`)
    const { memoryMb } = settingsOf(use.name)
    return row([
      kind,
      use.name,
      use.cpuMs.toFixed(1),
      requests.join(', '),
      use.readUnits,
      use.writeUnits,
      use.logBytes,
      billedMs(use),
      memoryMb,
    ])
  })
}

function sweeps(): number {
  const seconds = 0.05
  const gigabytes = settingsOf('sweep-executions').memoryMb / 1024
  return (
    43_200 *
    (PRICES.lambdaRequests + seconds * gigabytes * PRICES.lambdaGigabyteSeconds + 8 * 0.5 * PRICES.readUnits)
  )
}

function priceRows(): string[] {
  return [
    row(['a million API requests', (PRICES.apiRequests * 1e6).toFixed(2)]),
    row(['a million function requests', (PRICES.lambdaRequests * 1e6).toFixed(2)]),
    row(['a million gigabyte seconds', (PRICES.lambdaGigabyteSeconds * 1e6).toFixed(2)]),
    row(['a million read units', (PRICES.readUnits * 1e6).toFixed(3)]),
    row(['a million write units', (PRICES.writeUnits * 1e6).toFixed(3)]),
    row(['a gigabyte stored for a month, with recovery', PRICES.storedGigabyteMonths.toFixed(2)]),
    row([
      'a million queue requests; sent with a group id',
      `${(PRICES.queueRequests * 1e6).toFixed(2)}; ${((PRICES.queueRequests + PRICES.fairSends) * 1e6).toFixed(2)}`,
    ]),
    row(['a gigabyte of logs', PRICES.logGigabytes.toFixed(2)]),
    row(['a million traces', (PRICES.traces * 1e6).toFixed(2)]),
  ]
}
