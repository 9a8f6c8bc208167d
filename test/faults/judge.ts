import { isDeepStrictEqual } from 'node:util'
import { toExecutionRecord } from '../../lib/api/mappers/to-execution-record.ts'
import type { ExecutionRecord } from '../../lib/api/schemas/execution-record.ts'
import { MAX_ATTEMPTS } from '../../lib/core/limits.ts'
import { executionStore } from '../../lib/dynamodb/execution-store.ts'
import { LOCAL_TABLE } from '../../local/open-store.ts'
import type { Answer } from '../support/client.ts'
import type { Observation } from './caller.ts'
import type { ToolCallSeen } from './model-and-tools.ts'
import { figuresOf, type Report } from './report.ts'
import { killsOf, type World } from './world.ts'

export type Evidence = {
  observed: Observation[]
  /** What clients got other than the answers hoped for, by name. */
  counted: Record<string, number>
  /** What no client may ever get. */
  complaints: string[]
  seconds: { faults: number; settling: number }
}

/**
 * The one error that a run may end in for no fault of its own: each of its workers was killed. On a busy machine a
 * process lives hardly longer than a run, and some are unlucky six times.
 */
const ALLOWED_ERROR = 'AttemptsExhausted'

/**
 * From so many kills on, no more model responses may be asked for again than there were kills. A kill may meet 16 runs
 * of a process that all wait for their model, and of a few kills one such decides.
 */
const MANY_KILLS = 20

/** Holds what clients, model, tools and the proxy saw against the table as it is in the end. */
export async function judge(world: World, evidence: Evidence): Promise<Report> {
  const { observed, complaints } = evidence
  const { watch, models, services, proxies } = world
  const problems = [...complaints, ...services.flatMap((service) => service.problems)]
  const check = (isRight: boolean, problem: string) => {
    if (!isRight) problems.push(problem)
  }

  const records = await listAll(world)
  const byMarker = Map.groupBy(records, ({ input }) => String(input.marker))
  const executions = executionStore(world.table)
  for (const { run, executionId, answered, statuses, final } of observed) {
    const { marker } = run
    check(executionId !== null, `${marker} was never accepted.`)
    const found = byMarker.get(marker)?.length ?? 0
    check(found === 1, `${marker} has ${found} executions, not one.`)
    check(statuses.filter((status) => status !== 'IN_PROGRESS').length <= 1, `${marker} went ${statuses}.`)
    if (!executionId) continue
    const stored = await executions.get({ organizationId: world.organizationId, id: executionId })
    const last = stored && toExecutionRecord(stored)
    check(last !== null, `${marker} was accepted as ${executionId}, and is lost.`)
    if (!last) continue
    check(last.status !== 'IN_PROGRESS', `${marker} hangs: ${executionId} is still in progress.`)
    if (final) check(isDeepStrictEqual(last, final), `${marker} was final, and has changed since.`)
    if (last.status === 'SUCCESS') {
      check(isDeepStrictEqual(last.output, run.output), `${marker} gave ${JSON.stringify(last.output)}.`)
    }
    const again = [...models.asked]
      .filter(([name]) => name.startsWith(`${marker} `))
      .reduce((sum, [, times]) => sum + times - 1, 0)
    check(
      again <= Math.max(0, stored.attempts - 1),
      `${marker} asked for ${again} model responses again, and had ${stored.attempts} workers.`,
    )
    if (answered) check(isDeepStrictEqual(answered, last.output), `${marker} was answered something else.`)
    const isUnlucky = last.error?.code === ALLOWED_ERROR && stored.attemptsSinceProgress >= MAX_ATTEMPTS
    check(
      last.status !== 'ERROR' || isUnlucky,
      `${marker} ended in ${JSON.stringify(last.error)} after ${stored.attempts} attempts.`,
    )
  }

  const kills = killsOf(world).all
  const askedAgain = [...models.asked.values()].reduce((sum, times) => sum + times - 1, 0)
  check(
    askedAgain <= kills || kills < MANY_KILLS,
    `${askedAgain} model responses were asked for again, and ${kills} processes killed.`,
  )
  problems.push(...keyProblems(models.calls, byMarker))
  try {
    models.assertUnderstood()
  } catch (error) {
    problems.push(String(error))
  }
  await watch.compareWith(world.endpoint, LOCAL_TABLE)
  problems.push(...watch.problems)

  for (const [name, { counts }] of Object.entries(proxies)) {
    check(counts.broken === 0, `${counts.broken} requests to ${name} got no answer from the emulator.`)
  }
  for (const operation of ['SendMessage', 'ReceiveMessage', 'DeleteMessage']) {
    check((proxies.sqs.counts.operations[operation] ?? 0) > 0, `No ${operation} went through the proxy.`)
  }
  return { problems, figures: figuresOf(world, { ...evidence, records, kills, askedAgain }) }
}

/** Every execution of the organization, by paging through one of the services. */
async function listAll({ clients }: World): Promise<ExecutionRecord[]> {
  const records: ExecutionRecord[] = []
  let path: string | undefined = '/v1/agent_executions?limit=100'
  while (path) {
    const answer: Answer | undefined = await clients[0]?.('GET', path)
    if (answer?.status !== 200) throw new Error(`The executions cannot be listed: ${answer?.text}`)
    records.push(...answer.json)
    path = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
  }
  return records
}

/** One call of one step of an execution goes by one key, however often it is made, and no other call has it. */
function keyProblems(calls: ToolCallSeen[], byMarker: Map<string, ExecutionRecord[]>): string[] {
  const byCall = Map.groupBy(calls, ({ marker, step, call }) => `${marker} step ${step} call ${call}`)
  const byKey = Map.groupBy(calls, ({ key }) => key)
  const severalKeys = [...byCall].flatMap(([name, same]) => {
    const keys = new Set(same.map(({ key }) => key))
    const executions = byMarker.get(same[0]?.marker ?? '')?.length ?? 0
    return keys.size > executions ? [`${name} went by the keys ${[...keys].join(', ')}.`] : []
  })
  const sharedKeys = [...byKey].flatMap(([key, same]) => {
    const names = new Set(same.map(({ marker, step, call }) => `${marker} step ${step} call ${call}`))
    return names.size > 1 ? [`The key ${key} was that of ${[...names].join(' and ')}.`] : []
  })
  return [...severalKeys, ...sharedKeys]
}
