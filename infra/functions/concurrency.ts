import { ORGANIZATION_SHARE, SMALL_QUOTA } from '../../lib/core/limits.ts'
import type { FunctionName } from './function-settings.ts'

/** The minimum of a mapping. https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html */
const MIN_MAPPING = 2

/** Below this quota, and without one, nothing is reserved: a new account has 10. */
export const MIN_ACCOUNT_CONCURRENCY = 200

/**
 * Lambda refuses a reservation that leaves less.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
 */
export const MIN_UNRESERVED = 100

/** For the functions without a reservation, beside the runners. */
const FOR_OTHERS = 50

/**
 * Of deliveries, which are of these functions: receivers that do not answer occupy a process for 20 s, but requests
 * need some as well. It is enough for 100 deliveries a second that take two seconds each.
 */
const DELIVERY_CONCURRENCY = 20

/** Smaller reservations would limit more than they protect. */
const MIN_SHARED = 40

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
  'manage-batches': 5,
}

/** Functions whose requests can stay open while an execution or a batch runs. */
export const WAITING_FUNCTIONS: FunctionName[] = [
  'run-agent',
  'serve-mcp',
  'stream-events',
  'get-execution',
  'manage-batches',
]

/** Functions that have to know a small quota: those whose requests wait, those that queues start, and its reader. */
export const QUOTA_FUNCTIONS: FunctionName[] = [
  ...WAITING_FUNCTIONS,
  'process-execution',
  'deliver-events',
  'sweep-executions',
]

export type Concurrency = {
  /** The reserved concurrency of functions, which is also their maximum. */
  reserved: Partial<Record<FunctionName, number>>
  /** What open requests of one organization may occupy of them; with `isShared`, of all functions together. */
  ofOrganization: Partial<Record<FunctionName, number>>
  /** Whether the functions share a quota that has no room for reservations. */
  isShared: boolean
  /** The maximum of the mappings of queues beside those of the runners. */
  mappings: { deliveries: number; deadLetters: number | undefined }
  /** The maximum of the mapping of each run queue. */
  runners: number
}

/** Each run queue has runners of its own. */
const RUN_QUEUES = 2

/** The maximum of each run queue, if the quota has room for it and no setting says otherwise. */
const DEFAULT_RUNNERS = 50

type ConcurrencySettings = {
  /** The quota of the account in the region; null if unknown. */
  accountConcurrency: number | null
  /** The maximum of each run queue; null: the default. */
  runnerConcurrency: number | null
}

/**
 * Divides the concurrency of an account.
 * @throws an Error that names the settings if the runners leave too little
 */
export function divideConcurrency({
  accountConcurrency: account,
  runnerConcurrency,
}: ConcurrencySettings): Concurrency {
  const nothing = (runners: number): Concurrency => ({
    reserved: {},
    ofOrganization: {},
    isShared: false,
    mappings: { deliveries: DELIVERY_CONCURRENCY, deadLetters: undefined },
    runners,
  })
  if (account === null) return nothing(runnerConcurrency ?? DEFAULT_RUNNERS)
  const isDivided = account >= MIN_ACCOUNT_CONCURRENCY
  const forRunners = isDivided ? account - FOR_OTHERS - MIN_SHARED - FIXED_SUM : account / 2
  const max = Math.floor(forRunners / RUN_QUEUES)
  const runners = runnerConcurrency ?? Math.min(DEFAULT_RUNNERS, max)
  if (runners > max)
    throw new Error(
      `Invalid settings: accountConcurrency=${account} has room for runnerConcurrency=${max}, for each of ${RUN_QUEUES} queues, but it is ${runners}. Lower it, or have the quota raised.`,
    )
  const ofQueues = runners * RUN_QUEUES
  if (account < SMALL_QUOTA) return { ...nothing(runners), ...shareConcurrency(account - ofQueues) }
  if (!isDivided) return nothing(runners)
  const shared = account - Math.max(MIN_UNRESERVED, ofQueues + FOR_OTHERS) - FIXED_SUM
  const shares = Object.entries(SHARES).map(([name, percent]) => [name, Math.floor((shared * percent) / 100)])
  const reserved: Concurrency['reserved'] = { ...FIXED, ...Object.fromEntries(shares) }
  const ofOrganization = Object.fromEntries(
    WAITING_FUNCTIONS.map((name) => [name, Math.floor((reserved[name] ?? 0) * ORGANIZATION_SHARE)]),
  )
  const { mappings } = nothing(runners)
  const deadLetters = reserved['process-dead-letter']
  return { ...nothing(runners), reserved, ofOrganization, mappings: { ...mappings, deadLetters } }
}

/** Deliveries take at most a fifth of what the runners leave, dead letters as few as a mapping can. */
function shareConcurrency(free: number): Pick<Concurrency, 'ofOrganization' | 'isShared' | 'mappings'> {
  const share = Math.floor(free * ORGANIZATION_SHARE)
  const deliveries = Math.max(MIN_MAPPING, Math.min(DELIVERY_CONCURRENCY, Math.floor(free / 5)))
  return {
    ofOrganization: Object.fromEntries(WAITING_FUNCTIONS.map((name) => [name, share])),
    isShared: true,
    mappings: { deliveries, deadLetters: MIN_MAPPING },
  }
}

const FIXED_SUM = Object.values(FIXED).reduce((sum, each) => sum + each, 0)

/** What the stack tells its operators. */
export function describeConcurrency(
  { accountConcurrency }: ConcurrencySettings,
  { reserved, ofOrganization, isShared }: Concurrency,
): string {
  const sum = Object.values(reserved).reduce((total, each) => total + each, 0)
  if (sum > 0) return `${sum} of ${accountConcurrency} are reserved.`
  if (isShared)
    return `Nothing is reserved. Open requests of an organization occupy at most ${ofOrganization['run-agent']} of ${accountConcurrency}. Have the quota raised.`
  return `Nothing is reserved. Set accountConcurrency to the quota of the account if it is ${MIN_ACCOUNT_CONCURRENCY} or more.`
}
