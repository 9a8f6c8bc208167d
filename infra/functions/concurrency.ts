import type { FunctionName } from './function-settings.ts'

/** Below this quota, and without one, nothing is reserved: a new account has 10. */
export const MIN_ACCOUNT_CONCURRENCY = 200

/**
 * Lambda refuses a reservation that leaves less.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
 */
export const MIN_UNRESERVED = 100

/** For the functions without a reservation, beside the runners. */
const FOR_OTHERS = 50

/** Smaller reservations would limit more than they protect. */
const MIN_SHARED = 50

/** Few invocations, whatever the load: one a minute, and as many as Lambda recommends for a queue. */
const FIXED: Partial<Record<FunctionName, number>> = { 'sweep-executions': 2, 'process-dead-letter': 5 }

/**
 * Shares, in percent, of what is left for reservations. A reservation is also the maximum of its function: it keeps
 * requests that wait from taking everything. The rest is free for all functions.
 */
const SHARES: Partial<Record<FunctionName, number>> = {
  'authorize-request': 10,
  'run-agent': 35,
  'serve-mcp': 10,
  'stream-events': 10,
  'get-execution': 15,
}

/** Of a function's concurrency, what the open requests of one organization may occupy. */
const ORGANIZATION_SHARE = 1 / 2

/** Functions whose requests can stay open while an execution runs. */
const WAITING: FunctionName[] = ['run-agent', 'serve-mcp', 'stream-events', 'get-execution']

export type Concurrency = {
  /** The reserved concurrency of functions, which is also their maximum. */
  reserved: Partial<Record<FunctionName, number>>
  /** What open requests of one organization may occupy of them. */
  ofOrganization: Partial<Record<FunctionName, number>>
}

const NOTHING: Concurrency = { reserved: {}, ofOrganization: {} }

/**
 * Divides the concurrency of an account in a region.
 * @param account its quota; null if unknown
 * @param runners the maximum concurrency of all runners together
 * @throws an Error that names the settings if the runners leave too little
 */
export function divideConcurrency(account: number | null, runners: number): Concurrency {
  if (account === null) return NOTHING
  if (account < MIN_ACCOUNT_CONCURRENCY) {
    rejectRunners(account, runners, Math.floor(account / 2))
    return NOTHING
  }
  rejectRunners(account, runners, account - FOR_OTHERS - MIN_SHARED - FIXED_SUM)
  const shared = account - Math.max(MIN_UNRESERVED, runners + FOR_OTHERS) - FIXED_SUM
  const shares = Object.entries(SHARES).map(([name, percent]) => [name, Math.floor((shared * percent) / 100)])
  const reserved: Concurrency['reserved'] = { ...FIXED, ...Object.fromEntries(shares) }
  const ofOrganization = Object.fromEntries(
    WAITING.map((name) => [name, Math.floor((reserved[name] ?? 0) * ORGANIZATION_SHARE)]),
  )
  return { reserved, ofOrganization }
}

const FIXED_SUM = Object.values(FIXED).reduce((sum, each) => sum + each, 0)

function rejectRunners(account: number, runners: number, max: number): void {
  if (runners <= max) return
  throw new Error(
    `Invalid context: accountConcurrency=${account} has room for ${max} runners, but runnerConcurrency is ${runners} for all queues together. Lower it, or have the quota raised.`,
  )
}
