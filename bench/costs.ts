/** `npm run costs`: what AWS charges for a million runs, beyond the model and the agent's own time (docs/costs.md). */
import { getFunctionSettings } from '../infra/functions/function-settings.ts'
import { unitsPerRun } from './keys/hot-keys.ts'
import { findScenario, type Scenario, simulate } from './keys/workload.ts'
import { markdownTable, type Row } from './report.ts'

/**
 * US dollars per unit in us-east-1, looked up on 2026-11-21; no free tier, no volume discount.
 * Sources: https://aws.amazon.com/api-gateway/pricing/ (REST API), https://aws.amazon.com/lambda/pricing/ (Arm),
 * https://aws.amazon.com/dynamodb/pricing/on-demand/ (standard table class, point-in-time recovery),
 * https://aws.amazon.com/sqs/pricing/ (standard queue; a message group id has a surcharge),
 * https://aws.amazon.com/cloudwatch/pricing/ and https://aws.amazon.com/xray/pricing/
 */
const PRICES = {
  apiRequest: 3.5e-6,
  lambdaRequest: 0.2e-6,
  lambdaGigabyteSecond: 0.0000133334,
  writeUnit: 0.625e-6,
  readUnit: 0.125e-6,
  storedGigabyteMonth: 0.25 + 0.2,
  queueRequest: 0.4e-6,
  messageGroup: 0.1e-6,
  logGigabyte: 0.5,
  trace: 5e-6,
}

/** Milliseconds of a request to DynamoDB or SQS, and of a function's own work at its share of a core. */
const ROUND_TRIP_MS = 5
const PROCESSING_MS = 5
/** What Lambda logs of an invocation (start, end, report), and API Gateway of a request. */
const PLATFORM_LOG_BYTES = 900
const ACCESS_LOG_BYTES = 600
/** X-Ray samples the first request of each second and 5 % of the others. */
const TRACED = 0.05

/** `waitMs`: for the model and tools. */
type Invocation = {
  function: 'run-agent' | 'process-execution' | 'get-execution'
  roundTrips: number
  logBytes: number
  waitMs?: number
}
type Kind = { name: string; scenario: Scenario; invocations: Invocation[]; queueRequests?: number }

const ACCEPT: Invocation = { function: 'run-agent', roundTrips: 2, logBytes: 350 }
const PROCESS: Invocation = { function: 'process-execution', roundTrips: 2, logBytes: 550 }
const READ: Invocation = { function: 'get-execution', roundTrips: 1, logBytes: 300 }

const KINDS: Kind[] = [
  {
    name: 'sync',
    scenario: withoutTenants(findScenario('hot agent', 'sync')),
    invocations: [{ function: 'run-agent', roundTrips: 2, logBytes: 900 }],
  },
  {
    name: 'cached',
    scenario: withoutTenants(findScenario('hot cached result', 'cached')),
    invocations: [{ function: 'run-agent', roundTrips: 2, logBytes: 950 }],
  },
  {
    name: 'async',
    scenario: withoutTenants(findScenario('hot agent', 'async')),
    invocations: [ACCEPT, PROCESS, READ],
    // Send, receive and delete.
    queueRequests: 3,
  },
  {
    name: 'model, 20 s',
    scenario: findScenario('even', 'model'),
    // The claim, five steps, a renewal with the first one, four tool results with a read of the lease each, the finish.
    invocations: [ACCEPT, { ...PROCESS, roundTrips: 16, waitMs: 20_000 }, READ],
    // Also the changes of the visibility timeout after 1 s and with the heartbeat at 10 s.
    queueRequests: 5,
  },
]

const MILLION = 1e6

const columns: Record<string, Record<string, number>> = {}
for (const kind of KINDS) columns[kind.name] = await billOf(kind)
const items = Object.keys(Object.values(columns)[0] ?? {})
const rows = items.map(
  (item): Row => ({
    'US$ per million runs': item,
    ...Object.fromEntries(
      Object.entries(columns).map(([name, bill]) => [name, (bill[item] ?? 0).toFixed(2)]),
    ),
  }),
)
console.log(markdownTable(rows))

async function billOf({ scenario, invocations, queueRequests = 0 }: Kind): Promise<Record<string, number>> {
  const simulation = await simulate(scenario, { runs: 5_120, seed: 1 })
  const units = [...unitsPerRun(simulation).values()]
  const storedBytes = sum(Object.values(simulation.usage.storedBytes())) / simulation.runs
  const requests = invocations.filter((one) => one.function !== 'process-execution').length
  const logBytes =
    sum(invocations.map((one) => one.logBytes + PLATFORM_LOG_BYTES)) + requests * ACCESS_LOG_BYTES
  const bill = {
    'API Gateway': requests * PRICES.apiRequest,
    'Lambda requests': invocations.length * PRICES.lambdaRequest,
    'Lambda time': sum(invocations.map(gigabyteSeconds)) * PRICES.lambdaGigabyteSecond,
    'DynamoDB writes': sum(units.map(({ writes }) => writes)) * PRICES.writeUnit,
    'DynamoDB reads': sum(units.map(({ reads }) => reads)) * PRICES.readUnit,
    SQS: queueRequests > 0 ? queueRequests * PRICES.queueRequest + PRICES.messageGroup : 0,
    Logs: (logBytes / 1e9) * PRICES.logGigabyte,
    Traces: invocations.length * TRACED * PRICES.trace,
  }
  const perMillion = Object.fromEntries(
    Object.entries(bill).map(([item, amount]) => [item, amount * MILLION]),
  )
  return {
    ...perMillion,
    Total: sum(Object.values(perMillion)),
    'Storage per month': (storedBytes / 1e9) * MILLION * PRICES.storedGigabyteMonth,
  }
}

function withoutTenants(scenario: Scenario): Scenario {
  return { ...scenario, tenants: null }
}

function gigabyteSeconds({ function: name, roundTrips, waitMs = 0 }: Invocation): number {
  const ms = PROCESSING_MS + roundTrips * ROUND_TRIP_MS + waitMs
  return (ms / 1000) * (getFunctionSettings(name).memoryMb / 1024)
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
