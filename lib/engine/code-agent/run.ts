import { endedSteps } from '../../core/attempts.ts'
import { failure, type Outcome } from '../../core/execution.ts'
import { MAX_CODE_STEPS } from '../../core/limits.ts'
import { readSetting } from '../../environment.ts'
import { logger } from '../../logger.ts'
import { MaskedStream, type SecretMask } from '../../tools/secret-mask.ts'
import { AttemptStopped } from '../checkpoints/stop-reason.ts'
import { traceparentFrom } from '../engine.ts'
import type { RunParams } from '../model-agent/run-child.ts'
import { Diverged, endlessWaits } from '../replay/diverged.ts'
import { RecordedSteps } from '../replay/recorded-steps.ts'
import { openCallbacks } from '../waiting/callbacks.ts'
import { CodeWaits, endedWaits, InvalidWait } from '../waiting/code-waits.ts'
import type { AgentThread } from './agent-thread.ts'
import { ChildRuns } from './child-runs.ts'
import { CodeChanged, codeFileOf, forgetCodeFile } from './code-file.ts'
import { CodeSteps } from './code-steps.ts'
import { framesOf, toFailure, toOutcome } from './outcome.ts'
import type { CodeFile, RunResult, StepAnswer, ThreadError, ThreadMessage } from './thread/protocol.ts'
import { openThreadEnvironment } from './thread-environment.ts'
import { withNewThread, withThread } from './thread-pool.ts'

type Params = Omit<RunParams, 'retry'> & {
  /** Called when the run has a thread: it may have waited for one. */
  begin: () => void
}

/** After an abort, how long the agent's own cleanup may take before its thread is terminated. */
const ABORT_GRACE_MS = 200
/** How often the code of a version is written for one run. */
const MAX_LOADS = 3

/**
 * Runs a code agent in a thread of its own, so that nothing it does stops this worker or another run. Whatever goes
 * wrong in the agent is an outcome.
 * @throws AttemptStopped, Unavailable; the agent never sees these
 */
export async function runCodeVersion(params: Params): Promise<Outcome> {
  const { engine, version, recording } = params
  const replay = recording && new RecordedSteps(recording, params.execution)
  const { environment = process.env } = engine
  const { variables, hash, mask } = await openThreadEnvironment(version, environment)
  const memoryMb = readSetting('agentMemoryMb', environment)
  const key = {
    version: `${version.organizationId}/${version.id}`,
    tenantId: params.execution.tenantId,
    environment: hash,
    depth: params.execution.callers.length,
  }
  for (let attempts = 1; ; attempts++) {
    const code = await codeFileOf(engine.agents, version)
    if (code === null) return failure({ code: 'AgentFailed', message: 'The version has no code.' })
    const outcome = Promise.withResolvers<Outcome>()
    const use = (thread: AgentThread) => runIn(thread, code, { ...params, replay, mask }, outcome)
    const options = { environment: variables, memoryMb }
    if (replay) void withNewThread(key, { ...options, isIsolated: !replay.executesSteps }, use)
    else void withThread(key, options, use)
    try {
      return await outcome.promise
    } catch (error) {
      if (!(error instanceof CodeChanged) || attempts === MAX_LOADS) throw error
      logger.warn('The code of an agent was changed after it was stored.', { versionId: version.id })
      forgetCodeFile(version)
    }
  }
}

/**
 * One run of a thread: answers its messages, and settles with the first outcome.
 * @returns whether the thread can be used again
 */
async function runIn(
  thread: AgentThread,
  code: CodeFile,
  params: Params & { replay: RecordedSteps | null; mask: SecretMask },
  { resolve, reject }: PromiseWithResolvers<Outcome>,
): Promise<boolean> {
  const { engine, execution, version, journal, replay, signal, mask } = params
  if (signal.aborted) return false
  params.begin()
  const log = new MaskedStream(mask)
  const waits = new CodeWaits({ ...params, findRecordedEnd: replay?.findEnd.bind(replay) })
  const callbacks = openCallbacks(params)
  /** Of all attempts, and those in progress. */
  let steps = journal.recorded.length

  const fail = (error: ThreadError) => {
    journal.log(log.end())
    logger.warn('agent failed', { executionId: execution.id, versionId: version.id, frames: framesOf(error) })
    resolve(toFailure(error, params, mask))
  }

  const diverge = ({ error }: Diverged) => {
    journal.log(log.end())
    const names = (error.names as string[]).map((name) => mask.apply(name))
    resolve(failure({ ...error, message: mask.apply(error.message), names }))
  }

  const openWaits = () => codeSteps.waits(waits.waits)

  const complete = (result: RunResult) => {
    journal.log(log.end())
    if (result.type === 'code-changed') reject(new CodeChanged())
    else if (result.type === 'failed') fail(result.error)
    else if (result.type === 'suspended' && replay) diverge(endlessWaits(openWaits()))
    else if (result.type === 'suspended')
      reject(new AttemptStopped({ kind: 'Suspended', waits: openWaits() }))
    else resolve(toOutcome(result, { ...params, steps: journal.progress.steps }))
  }

  /** Counts another step or wait. False if there are too many, which ends the run. */
  const countStep = (): boolean => {
    steps += 1
    if (steps <= MAX_CODE_STEPS) return true
    const message = `The agent began more than ${MAX_CODE_STEPS} steps.`
    fail({ code: 'MaxAgentStepsExceeded', message, stack: null })
    void thread.destroy()
    return false
  }

  const runs = new ChildRuns(params)
  const codeSteps = new CodeSteps({ engine, journal, replay, mask, runs, countStep })
  const sendAnswer = ({ id, name }: { id: number; name: string }, answer: StepAnswer) => {
    if (answer.type === 'step-recorded') callbacks.maskStored([[name, answer.json]])
    thread.send({ id, ...answer })
  }

  /** @throws AttemptStopped, Unavailable */
  const receive = async (message: ThreadMessage): Promise<void> => {
    switch (message.type) {
      case 'step':
      case 'run': {
        const answer = await (message.type === 'run' ? codeSteps.run(message) : codeSteps.begin(message))
        if (answer) sendAnswer(message, answer)
        return
      }
      case 'step-failed':
        return sendAnswer(message, await codeSteps.fail(message))
      case 'step-result':
        await codeSteps.succeed(message)
        return thread.send({ type: 'step-stored', id: message.id })
      case 'wait': {
        journal.assertMayBegin()
        const { id, name, wait } = message
        if (!waits.isRecorded(name) && !countStep()) return
        const begun = await waits.begin(name, wait)
        if (begun === 'open') return thread.send({ type: 'wait-open', id })
        return thread.send({ type: 'wait-ended', id, json: JSON.stringify(begun.value) })
      }
      case 'callback': {
        const url = await callbacks.urlOf(message.name)
        return thread.send({ type: 'wait-ended', id: message.id, json: JSON.stringify(url) })
      }
      case 'log':
        return journal.log(log.push(message.text, message.isCut))
      case 'result':
        return complete(message.result)
      case 'crashed':
        fail(message.error)
        return thread.destroy()
    }
  }

  const abort = () => {
    thread.send({ type: 'abort' })
    setTimeout(() => thread.destroy(), ABORT_GRACE_MS)
  }
  signal.addEventListener('abort', abort, { once: true })
  try {
    const storedSteps = [...endedSteps(journal.recorded), ...endedWaits(journal.recorded)]
    callbacks.maskStored(storedSteps)
    const task = {
      code,
      input: JSON.stringify(execution.input),
      executionId: execution.id,
      tenantId: execution.tenantId,
      publicUrl: callbacks.publicUrl,
      allowedHosts: version.execution.allowedHosts,
      traceparent: traceparentFrom(engine, execution),
      storedSteps,
    }
    const isClean = await thread.execute(task, (message) => {
      receive(message).catch((error: unknown) => {
        if (error instanceof Diverged) diverge(error)
        else if (error instanceof InvalidWait)
          fail({ code: 'AgentFailed', message: error.message, stack: null })
        else reject(error)
        void thread.destroy()
      })
    })
    return isClean && !signal.aborted
  } catch (error) {
    fail({ message: (error as Error).message, stack: null })
    return false
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
