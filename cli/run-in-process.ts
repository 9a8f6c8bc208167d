import { trackExecution } from '../authoring/track-execution.ts'
import { type AnswerWaits, runThroughWaits } from '../authoring/waits/run-through-waits.ts'
import type { Execution } from '../lib/core/execution.ts'
import { CANCELLED } from '../lib/core/execution-errors.ts'
import type { RunQueue } from '../lib/core/ports/queues.ts'
import type { Stores } from '../lib/dynamodb/open-stores.ts'
import type { RunRequest } from '../lib/engine/submit/run-request.ts'
import { system } from '../lib/system.ts'
import { askUser, tellUser, untilAborted } from './ask-user.ts'
import { UserError } from './errors.ts'
import type { SharedOptions } from './options.ts'
import { LineReader } from './prompt.ts'
import { onInterrupt, withProgress, write } from './terminal.ts'

/** The sweeper of the service sends the messages. */
const SWEPT: RunQueue = { send: async () => undefined }

/**
 * Runs an execution in this process and records it, like the run function. While it waits, others decide how it goes
 * on; in a run that is not stored, the user does. Ctrl-C cancels the execution, unless others can continue it later.
 * What the agent prints goes to stderr, because stdout is for the result.
 */
export async function runInProcess(
  stores: Stores,
  request: RunRequest,
  options: SharedOptions,
  isStored: boolean,
): Promise<Execution> {
  const tracked = trackExecution(stores, request.version.organizationId)
  const print = (line: string) => void write(process.stderr, `${line}\n`)
  const answers = isStored
    ? tellUser(options, print)
    : askUser({ lines: new LineReader(), print, otherwise: waitForTime })
  let isWaiting = false
  const answer: AnswerWaits = async (open, signal) => {
    isWaiting = true
    return answers.answer(open, signal).finally(() => {
      isWaiting = false
    })
  }
  const removeCleanup = onInterrupt(async () => {
    if (isStored && isWaiting) {
      const message = `Stopped waiting. Execution ${tracked.getId()} stays suspended: the service continues it when something arrives.`
      await write(process.stderr, `${message}\n`)
      return
    }
    const ending = tracked.end(CANCELLED).then(() => true)
    const isRecorded = await withProgress('Cancelling', ending).catch(() => false)
    const id = isStored ? tracked.getId() : undefined
    await write(process.stderr, `${describeCancel(id, isRecorded)}\n`)
  })
  try {
    const onLog = (text: string) => void process.stderr.write(text)
    const engine = { ...tracked.stores, queue: SWEPT, system, onLog }
    return await runThroughWaits(engine, request, { ...answers, answer })
  } catch (error) {
    if (error instanceof UserError) throw error
    const message = error instanceof Error ? error.message : String(error)
    await tracked.end({ code: 'AgentFailed', message }).catch(() => undefined)
    throw new UserError(`Execution failed: ${message}`, {
      details: { code: 'AgentFailed', executionId: tracked.getId() },
    })
  } finally {
    removeCleanup()
  }
}

/** A run that is not stored gets no answer or signal from elsewhere. @throws UserError */
const waitForTime: AnswerWaits = async (open, signal) => {
  const wait = open.find(({ kind }) => kind === 'approval' || kind === 'signal')
  if (!wait) return untilAborted(signal)
  throw new UserError(
    `The run waits for the ${wait.kind} ${wait.name}, and standard input is closed: nobody can answer. Use a test case, or publish the agent.`,
  )
}

function describeCancel(id: string | undefined, isRecorded: boolean): string {
  if (id === undefined) return 'Cancelled. Nothing was recorded.'
  return isRecorded
    ? `Cancelled. Execution ${id} has ended with the error Cancelled.`
    : `Stopped. Execution ${id} could not be cancelled, because the table does not respond: the service continues it.`
}
