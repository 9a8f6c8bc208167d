import { seededRandom } from '../../../support/data/random.ts'
import type { FaultName } from '../../../support/proxy/faults.ts'
import type { ProxyRequest } from '../../../support/proxy/start-proxy.ts'
import { type ItemRequest, isRecord, isStep, parseItemRequest } from './table-request.ts'

/** `kill`: the request gets no response, and the process that sent it is killed. */
type Effect = Extract<FaultName, 'throttle' | 'reject'> | 'kill'

/** Which requests about an execution get which fault: all that match, unless a number, a share or a time limits it. */
type Rule = {
  /** Of the run itself, or of the agents that it calls. */
  of: 'run' | 'child'
  matches: (request: ItemRequest) => boolean
  effect: Effect
  /** The first requests of each execution. */
  times?: number
  share?: number
  /** Since the first request of the execution that matches. */
  leases?: number
}

const isWrite = ({ operation }: ItemRequest) => operation !== 'GetItem'
const writesStep = ({ operation, sk }: ItemRequest) => operation === 'PutItem' && isStep(sk)
const createsRecord = ({ operation, sk }: ItemRequest) => operation === 'PutItem' && isRecord(sk)
const succeeds = ({ operation, sk, body }: ItemRequest) =>
  operation === 'UpdateItem' &&
  isRecord(sk) &&
  Object.values(body.ExpressionAttributeValues ?? {}).some(({ S }) => S === 'SUCCESS')

/** The SDK sends a request up to three times: the write of the first worker fails, that of the second one succeeds. */
const ONE_CALL = 4
/** More than the attempts of a run. */
const DEATHS = 8

/** What the database does to single runs, however healthy it is otherwise. */
const RULES = {
  'steps throttled': { of: 'run', matches: writesStep, effect: 'throttle' },
  'steps refused': { of: 'run', matches: writesStep, effect: 'reject' },
  'first step throttled': { of: 'run', matches: writesStep, effect: 'throttle', times: ONE_CALL },
  'writes throttled at times': { of: 'run', matches: isWrite, effect: 'throttle', share: 0.3 },
  'worker dies while it stores': { of: 'run', matches: writesStep, effect: 'kill', times: DEATHS },
  'result throttled for a while': { of: 'run', matches: succeeds, effect: 'throttle', leases: 4 },
  'result throttled': { of: 'run', matches: succeeds, effect: 'throttle' },
  'child not created at first': { of: 'child', matches: createsRecord, effect: 'throttle', times: ONE_CALL },
  'first step of child throttled': { of: 'child', matches: writesStep, effect: 'throttle', times: ONE_CALL },
  'steps of child throttled': { of: 'child', matches: writesStep, effect: 'throttle' },
} satisfies Record<string, Rule>

export type RunFault = keyof typeof RULES
export const RUN_FAULTS = Object.keys(RULES) as RunFault[]

type Target = { rule: Rule; of: Rule['of']; name: RunFault; count: number; firstAt: number }

type Options = {
  seed: number
  leaseMs: number
  /** Kills the process whose requests come from this client of the proxy. */
  kill: (client: string) => void
}

/** Injects the faults of single runs. It learns their ids from the requests that create them. */
export function targetFaults({ seed, leaseMs, kill }: Options) {
  const random = seededRandom(seed, 'targeted faults')
  /** By the marker in the input of the run. */
  const faults = new Map<string, RunFault>()
  /** By the partition key. */
  const targets = new Map<string, Target>()
  const counts = Object.fromEntries(RUN_FAULTS.map((name) => [name, 0])) as Record<RunFault, number>

  function register({ pk, body }: ItemRequest): void {
    if (targets.has(pk)) return
    const parent = targets.get(`EXEC#${body.Item?.parentExecutionId?.S}`)
    const name = parent?.name ?? faults.get(markerOf(body.Item?.input?.M?.json?.S))
    if (!name) return
    targets.set(pk, { rule: RULES[name], of: parent ? 'child' : 'run', name, count: 0, firstAt: 0 })
  }

  function isDue(target: Target): boolean {
    const { times = Number.POSITIVE_INFINITY, share = 1, leases = Number.POSITIVE_INFINITY } = target.rule
    if (target.count++ === 0) target.firstAt = performance.now()
    const isInTime = performance.now() - target.firstAt < leases * leaseMs
    return target.count <= times && isInTime && random.next() < share
  }

  return {
    /** To be called before the runs are requested. */
    plan(runs: { marker: string; fault: RunFault | null }[]): void {
      for (const { marker, fault } of runs) if (fault) faults.set(marker, fault)
    },

    /** How many requests got each fault. */
    counts,
    inject({ operation, body, client }: ProxyRequest): FaultName | null {
      const request = parseItemRequest(operation, body)
      if (!request) return null
      if (createsRecord(request)) register(request)
      const target = targets.get(request.pk)
      if (!target || target.of !== target.rule.of || !target.rule.matches(request) || !isDue(target))
        return null
      counts[target.name]++
      if (target.rule.effect !== 'kill') return target.rule.effect
      kill(client)
      return 'hang'
    },
  }
}

/** Of the input of a run, which is stored in its record if it is small. */
function markerOf(json: string | undefined): string {
  return json ? String(JSON.parse(json).marker) : ''
}
