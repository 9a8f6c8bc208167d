/**
 * US dollars per unit in us-east-1, looked up on 2026-11-21; no free tier, no volume discount.
 * Sources: https://aws.amazon.com/api-gateway/pricing/ (REST API), https://aws.amazon.com/lambda/pricing/ (Arm),
 * https://aws.amazon.com/dynamodb/pricing/on-demand/ (standard table class, point-in-time recovery),
 * https://aws.amazon.com/sqs/pricing/ (standard queue; a message group id has a surcharge),
 * https://aws.amazon.com/eventbridge/pricing/ (custom events, by 64 kB),
 * https://aws.amazon.com/cloudwatch/pricing/, https://aws.amazon.com/xray/pricing/ and
 * https://aws.amazon.com/ec2/pricing/on-demand/ (transfer to the internet, which all services share)
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
  sentGigabyte: 0.09,
  busEvent: 1e-6,
}

const BUS_EVENT_BYTES = 65_536

/** What one run uses. */
export type Usage = Record<
  | ('apiRequests' | 'invocations' | 'gigabyteSeconds' | 'writeUnits' | 'readUnits')
  | ('queueRequests' | 'messages' | 'logBytes' | 'traces' | 'sentBytes'),
  number
>

/** US dollars by service, in the order in which tables show them. */
export type Bill = Record<'API Gateway' | 'Lambda' | 'DynamoDB' | 'Other', number>

export const toBill = (usage: Usage): Bill => ({
  'API Gateway': usage.apiRequests * PRICES.apiRequest,
  Lambda: usage.invocations * PRICES.lambdaRequest + usage.gigabyteSeconds * PRICES.lambdaGigabyteSecond,
  DynamoDB: usage.writeUnits * PRICES.writeUnit + usage.readUnits * PRICES.readUnit,
  Other:
    usage.queueRequests * PRICES.queueRequest +
    usage.messages * PRICES.messageGroup +
    (usage.logBytes / 1e9) * PRICES.logGigabyte +
    usage.traces * PRICES.trace +
    (usage.sentBytes / 1e9) * PRICES.sentGigabyte,
})

export const totalOf = (bill: Record<string, number>): number => sum(Object.values(bill))

export const perMillion = (dollars: number): string => (dollars * 1e6).toFixed(2)

/** Per month. */
export const storagePrice = (bytes: number): number => (bytes / 1e9) * PRICES.storedGigabyteMonth

/** Of an event of so many bytes. */
export const eventBusPrice = (bytes: number): number => Math.ceil(bytes / BUS_EVENT_BYTES) * PRICES.busEvent

export const addUsage = (...usages: Usage[]): Usage => {
  const names = Object.keys(usages[0] ?? {}) as (keyof Usage)[]
  return Object.fromEntries(names.map((name) => [name, sum(usages.map((usage) => usage[name]))])) as Usage
}

export const scaleUsage = (usage: Usage, factor: number): Usage =>
  Object.fromEntries(Object.entries(usage).map(([name, amount]) => [name, amount * factor])) as Usage

export const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0)
