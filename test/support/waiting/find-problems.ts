import { type Execution, isFinal } from '../../../lib/core/execution.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { WAIT_RESULT } from '../../../lib/core/step.ts'
import { usedSignals } from '../../../lib/engine/waiting/wake.ts'
import { type Scenario, TIMEOUT_SECONDS } from './scenarios.ts'
import type { WaitingRun } from './waiting-run.ts'

const MINUTE_MS = 60_000
/** How long a run may take to end after the last thing that it waits for, with workers that die. */
const RECOVERY_MS = 30 * MINUTE_MS

/** What an item of an execution that has ended must not have. */
const LISTED = ['openShard', 'activeShard', 'activeOrder']
const HELD = ['leaseOwner', 'leaseExpiresAt', ...LISTED, 'openUntil', 'suspension']

/** The same if no worker dies: a message resumes the run at once. */
export const PROMPT_MS = 2 * MINUTE_MS

/** Lets the run end, deletes it, and returns everything that is wrong with it. */
export async function findProblems(
  run: WaitingRun,
  scenario: Scenario,
  recoveryMs = RECOVERY_MS,
): Promise<string[]> {
  const { problems, acknowledged } = run
  const hasEnded = await run.settle(recoveryMs)
  if (!hasEnded && run.completeAt !== null)
    problems.push('The run has all that it waits for, and goes on waiting.')
  if (!hasEnded) {
    run.pass(TIMEOUT_SECONDS * 1000)
    // Each of its waits may take that long.
    for (let waits = 0; waits < 3 && !(await run.settle(2 * RECOVERY_MS)); waits++)
      run.pass(TIMEOUT_SECONDS * 1000)
  }
  const stored = await run.stored()
  if (run.isDeleted)
    return [...problems, ...(stored ? ['It was deleted, and can be read.'] : []), ...(await remains(run))]
  if (!stored) return [...problems, 'The run is missing.']
  if (!isFinal(stored)) return [...problems, 'The run has not ended.']

  const record = (await run.items()).get('RECORD') ?? {}
  const held = HELD.filter((name) => name in record)
  if (held.length > 0) problems.push(`The run that ended still has ${held}.`)
  if (stored.status === 'SUCCESS' && 'statusShard' in record) problems.push('It has a status key.')
  if (stored.status === 'ERROR' && stored.error?.code !== 'Cancelled')
    problems.push(`It failed: ${JSON.stringify(stored.error)}`)
  if (acknowledged.cancelled !== (stored.error?.code === 'Cancelled'))
    problems.push('Cancelling is not its end.')

  const steps = await run.steps()
  const names = steps.map(({ step }) => (step.kind === 'MODEL' ? step.number : step.name))
  if (new Set(names).size < names.length) problems.push(`A step is stored twice: ${names}`)
  const taken = steps.flatMap(({ results }) =>
    [...results.values()].flatMap(({ signals }) => signals?.taken ?? []),
  )
  if (new Set(taken).size < taken.length) problems.push(`A signal was delivered twice: ${taken}`)
  const relevant = acknowledged.signals.filter(({ name }) => scenario.signals.includes(name))
  const order = relevant.map(({ id }) => id).filter((id) => taken.includes(id))
  // Signals of concurrent clients have no order.
  if (order.length === taken.length && [...order].sort().join() !== [...taken].sort().join())
    problems.push('Another signal was delivered.')
  const kept = new Set((await run.unread()).map(({ id }) => id))
  const used = usedSignals(steps)
  for (const { id } of acknowledged.signals)
    if (!used.has(id) && !kept.has(id)) problems.push(`The signal ${id} is lost.`)
  if (new Set(acknowledged.decisions).size > 1) problems.push('Two decisions were acknowledged.')

  for (const { step, results } of steps) {
    const ended = results.get(WAIT_RESULT)
    if (step.kind !== 'WAIT' || step.wait.kind !== 'signal' || !ended || ended.signals) continue
    const until = Date.parse(step.wait.until ?? '')
    const missed = relevant.find(({ id, at }) => at < until && !used.has(id))
    if (missed) problems.push(`The signal ${missed.id} was sent before the timeout and not delivered.`)
  }
  if (stored.status === 'SUCCESS') problems.push(...findWrongOutput(stored.output ?? {}, run, taken))
  // Nothing changes it any more.
  await run.settle(5 * MINUTE_MS)
  await run.deadLetter()
  await run.sweep()
  const endOf = ({ status, output, error }: Partial<Execution>) => JSON.stringify([status, output, error])
  if (endOf((await run.stored()) ?? {}) !== endOf(stored)) problems.push('The run ended twice.')
  return [...problems, ...(await remains(run))]
}

async function remains(run: WaitingRun): Promise<string[]> {
  const left = await run.removeAll()
  return left.length > 0 ? [`Left after the deletion: ${left}`] : []
}

function findWrongOutput(output: JsonObject, { acknowledged }: WaitingRun, taken: string[]): string[] {
  const problems: string[] = []
  const { signals = [], approval } = output as { signals?: unknown[]; approval?: { decision: string } }
  const received = signals.filter((signal) => signal !== null)
  const sent = taken.map((id) => acknowledged.signals.find((signal) => signal.id === id)?.data)
  const isOther = sent.some((data, index) => data !== undefined && data !== received[index])
  if (isOther || sent.length !== received.length)
    problems.push(`The agent got ${received} instead of ${sent}.`)
  const [decided] = acknowledged.decisions
  if (decided && approval?.decision !== decided)
    problems.push(`${decided} was acknowledged, and the agent saw ${approval?.decision}.`)
  if (!decided && approval && approval.decision !== 'timeout')
    problems.push(`Nobody decided, and the agent saw ${approval.decision}.`)
  return problems
}
