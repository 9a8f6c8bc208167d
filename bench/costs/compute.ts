import { settingsOf } from '../../infra/functions/function-settings.ts'
import { PRICES } from './prices.ts'
import type { FunctionUse, RunUse } from './usage.ts'

/** What cannot be measured on one machine, and is taken for granted. */
export const ASSUMPTIONS = {
  /** Of a request to DynamoDB or SQS from a function of the same region, as AWS says: "single-digit milliseconds". */
  roundTripMs: 5,
  /** Memory at which a function has one whole core: https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html */
  megabytesOfACore: 1769,
  /** What Lambda itself logs of an invocation (start, end and report), and API Gateway of a request. */
  platformLogBytes: 900,
  accessLogBytes: 600,
  /** X-Ray's own rule: the first request of a second, and 5 % of the others. */
  tracedShare: 0.05,
} as const

/** Dollars of a million runs, by what they are paid for. */
export type Bill = Record<
  | 'API Gateway'
  | 'Lambda requests'
  | 'Lambda time'
  | 'DynamoDB writes'
  | 'DynamoDB reads'
  | 'SQS'
  | 'Logs'
  | 'Traces',
  number
>

const MILLION = 1e6
const GIGABYTE = 1e9

/** Milliseconds that a function is billed for: its work, slowed by its share of a core, and its waits. */
export function billedMs({ name, cpuMs, requests, queueRequests }: FunctionUse): number {
  const { roundTripMs, megabytesOfACore } = ASSUMPTIONS
  const roundTrips = Object.values(requests).reduce((sum, count) => sum + count, queueRequests)
  return Math.ceil((cpuMs * megabytesOfACore) / settingsOf(name).memoryMb + roundTrips * roundTripMs)
}

/** A second of waiting for a model or a tool, a million times. */
export const secondOfRunning = (name: FunctionUse['name']): number =>
  MILLION * (settingsOf(name).memoryMb / 1024) * PRICES.lambdaGigabyteSeconds

export function billOf({ kind, functions }: RunUse): Bill {
  const sum = (of: (use: FunctionUse) => number) => functions.reduce((total, use) => total + of(use), 0)
  const isCalled = ({ name }: FunctionUse) => name !== 'process-execution'
  const calls = functions.filter(isCalled).length
  const gigabyteSeconds = sum((use) => (billedMs(use) / 1000) * (settingsOf(use.name).memoryMb / 1024))
  const logBytes =
    sum(({ logBytes }) => logBytes + ASSUMPTIONS.platformLogBytes) + calls * ASSUMPTIONS.accessLogBytes
  // The event source mapping receives a message and deletes it; the function has sent it.
  const isQueued = kind === 'async'
  const queueRequests = sum((use) => use.queueRequests) + (isQueued ? 2 : 0)
  return {
    'API Gateway': MILLION * calls * PRICES.apiRequests,
    'Lambda requests': MILLION * functions.length * PRICES.lambdaRequests,
    'Lambda time': MILLION * gigabyteSeconds * PRICES.lambdaGigabyteSeconds,
    'DynamoDB writes': MILLION * sum(({ writeUnits }) => writeUnits) * PRICES.writeUnits,
    'DynamoDB reads': MILLION * sum(({ readUnits }) => readUnits) * PRICES.readUnits,
    SQS: MILLION * (queueRequests * PRICES.queueRequests + (isQueued ? PRICES.fairSends : 0)),
    Logs: (MILLION / GIGABYTE) * logBytes * PRICES.logGigabytes,
    Traces: MILLION * functions.length * ASSUMPTIONS.tracedShare * PRICES.traces,
  }
}

export const totalOf = (bill: Bill): number => Object.values(bill).reduce((sum, part) => sum + part, 0)

/** Dollars of a month of keeping a million runs. */
export const storageOf = ({ storedBytes }: RunUse): number =>
  (MILLION / GIGABYTE) * storedBytes * PRICES.storedGigabyteMonths
