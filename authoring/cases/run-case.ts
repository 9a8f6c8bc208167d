import type { Version } from '../../lib/core/agent.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import type { Execution } from '../../lib/core/execution.ts'
import type { ExecutionError } from '../../lib/core/execution-errors.ts'
import { agentIdOf } from '../../lib/core/ids.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { roundDollars } from '../../lib/core/model-usage.ts'
import { readScore } from '../../lib/core/score.ts'
import type { Step } from '../../lib/core/step.ts'
import type { Stores } from '../../lib/dynamodb/open-stores.ts'
import type { Engine } from '../../lib/engine/engine.ts'
import { toScorerInput } from '../../lib/engine/scores/scorer-input.ts'
import { buildRunRequest } from '../../lib/engine/submit/run-request.ts'
import type { Environment } from '../../lib/environment.ts'
import { system } from '../../lib/system.ts'
import { type Answers, runThroughWaits } from '../waits/run-through-waits.ts'
import { CaseAnswers, WaitNotAnswered } from './case-answers.ts'
import type { TestCase } from './case-file.ts'
import type { Difference } from './differences.ts'
import { type CaseRun, type CaseScore, findFailedCalls, findFailures } from './find-failures.ts'

/**
 * One run of a case. `failures` is empty if it passed. `notYetCorrected`: it passed because it repeats the execution
 * whose correction the case expects; these are the differences. Times are milliseconds.
 */
export type CaseResult = CaseRun & {
  name: string
  failures: Difference[]
  notYetCorrected?: Difference[]
  durationMs: number
}

export type CaseParams = {
  stores: Stores
  version: Version
  testCase: TestCase
  /** Replaces the model of the version. */
  model: string | null
  environment: Environment
  /** Where responses come from; by default, models and tools themselves. */
  sources?: Pick<Engine, 'openModel' | 'openTools' | 'recordingOf'>
  /** Why the run cannot be right, whatever it returned. */
  findDefects?: () => string[]
  onLog?: (text: string) => void
  onStep?: (execution: Execution, step: Step) => void
  /** Runs a scorer of the output like a case; by default, without a recording. */
  runScorer?: (params: CaseParams) => Promise<CaseResult>
  /** Answers the waits that the case does not. Others can reach the run, too. */
  answers?: Answers
}

/** Of callbacks, which cases do not receive. */
const PUBLIC_URL_OF_CASES = 'https://agents.example.com'

/** Runs a case like a request would run: with adaptation, journal, budgets and limits. */
export async function runCase(params: CaseParams): Promise<CaseResult> {
  const { testCase, findDefects = () => [] } = params
  const { name, expect } = testCase
  const startedAt = performance.now()
  const answers = new CaseAnswers(testCase)
  const unanswered: string[] = []
  const { id, ...ended } = await runOnce(params, {
    isShared: params.answers !== undefined,
    ...(params.answers?.decide && { decide: params.answers.decide }),
    async answer(open, signal) {
      const taken = answers.take(open)
      if (taken.length > 0) return taken
      if (params.answers && !open.every((wait) => answers.knows(wait)))
        return params.answers.answer(open, signal)
      try {
        return answers.timeOut(open)
      } catch (error) {
        if (error instanceof WaitNotAnswered) unanswered.push(error.message)
        throw error
      }
    },
    onRefused(wait, reason) {
      params.answers?.onRefused(wait, reason)
      const message = `the ${wait.kind} ${JSON.stringify(wait.name)} refuses what the case answers: ${reason.message}`
      if (params.answers) return
      unanswered.push(message)
      throw new WaitNotAnswered(message)
    },
  })
  const durationMs = Math.round(performance.now() - startedAt)
  const scores = expect.scores && id && ended.output && (await scoreOutput(params, id, ended.output))
  const run = { ...ended, ...(scores && { scores }) }
  const toDifferences = (messages: string[]) => messages.map((message) => ({ pointer: '', message }))
  const defects = toDifferences([...findDefects(), ...unanswered])
  const failures =
    defects.length > 0 ? defects : [...findFailures(expect, run), ...toDifferences(answers.unused)]
  return { name, ...run, failures, durationMs }
}

async function runOnce(params: CaseParams, answers: Answers): Promise<CaseRun & { id?: string }> {
  const { stores, version, testCase, model, environment, sources, onLog, onStep } = params
  const costs: (number | undefined)[] = []
  let steps = 0
  const engine = {
    ...stores,
    ...sources,
    queue: { send: async () => undefined },
    system,
    environment: { PUBLIC_URL: PUBLIC_URL_OF_CASES, ...environment },
    ...(onLog && { onLog }),
    onStep: (execution: Execution, step: Step) => {
      if (step.kind === 'MODEL') costs.push(step.usage.costUsd)
      if (execution.parentExecutionId === null) steps = step.number
      onStep?.(execution, step)
    },
  }
  try {
    const request = await buildRunRequest(version, testCase.input, {
      useCache: false,
      useDynamicLearning: false,
    })
    const options = { ...request.options, model }
    const { id, output, error } = await runThroughWaits(engine, { ...request, options }, answers)
    const failedCalls = await findFailedCalls(stores.steps, id)
    return { id, output, error, failedCalls, steps, costUsd: sum(costs) }
  } catch (error) {
    return { output: null, error: toExecutionError(error), failedCalls: [], steps, costUsd: sum(costs) }
  }
}

/** What scorers receive as the version that has run: a recording could not repeat the id of a version. */
const VERSION_OF_CASES = 'test'

const NO_SCORER = 'it is neither in a folder next to the agent, nor published'

/** The scores that the case expects, by scorers that are published in its organization. */
async function scoreOutput(
  params: CaseParams,
  executionId: string,
  output: JsonObject,
): Promise<Record<string, CaseScore>> {
  const { stores, version, testCase, environment, onLog, runScorer = runCase } = params
  const { organizationId, slug: agent } = version
  const { equals, matches, scores = {} } = testCase.expect
  const steps = await stores.steps.read({ executionId })
  const run = { input: testCase.input, output, expected: equals ?? matches, steps, agent }
  const score = async (slug: string): Promise<CaseScore> => {
    const scorer = await stores.agents.get({ organizationId, id: agentIdOf(organizationId, slug) })
    if (!scorer?.current) return { score: null, reason: null, error: NO_SCORER, costUsd: 0 }
    const input = toScorerInput(scorer.inputSchema, { ...run, version: VERSION_OF_CASES })
    const result = await runScorer({
      ...{ stores, environment, version: scorer.current, model: null },
      testCase: { name: slug, input, expect: {} },
      ...(onLog && { onLog }),
    })
    const { costUsd, failures, output: said } = result
    const { score, reason, error } = readScore(said ?? {})
    if (failures[0]) return { score: null, reason: null, error: failures[0].message ?? '', costUsd }
    return { score, reason, error: error?.message ?? null, costUsd }
  }
  return Object.fromEntries(
    await Promise.all(Object.keys(scores).map(async (slug) => [slug, await score(slug)])),
  )
}

function toExecutionError(error: unknown): ExecutionError {
  if (error instanceof ServiceError) return { code: error.code, message: error.message }
  return { code: 'AgentFailed', message: error instanceof Error ? error.message : String(error) }
}

const sum = (costs: (number | undefined)[]): number | null =>
  costs.includes(undefined) ? null : roundDollars(costs.reduce<number>((total, cost = 0) => total + cost, 0))
