import { resolveVersion } from '../../agents/resolve-version.ts'
import { isStrict, type Version } from '../../core/agent.ts'
import { attemptId } from '../../core/attempts.ts'
import {
  addSpending,
  type Budget,
  type Spending,
  shareBudget,
  toBudget,
  toSpending,
} from '../../core/budget.ts'
import { ServiceError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { MAX_CHILDREN } from '../../core/limits.ts'
import type { CallResult, RecordedStep } from '../../core/step.ts'
import type { Journal } from '../checkpoints/journal.ts'
import { adapterOf } from '../compiled-adapter.ts'
import { inputValidatorOf } from '../compiled-schemas.ts'
import { callKeyOf } from '../model-agent/call-key.ts'
import { passFiles } from '../model-agent/input-files.ts'
import type { RunParams } from '../model-agent/run-child.ts'
import { callAgent } from '../model-agent/sub-agents.ts'

type Params = Pick<RunParams, 'engine' | 'execution' | 'version' | 'attempt' | 'signal' | 'endsAt'> & {
  journal: Pick<Journal, 'recorded' | 'progress'>
}

/** The agents that a code agent runs, each in a step. */
export class ChildRuns {
  private readonly params: Params
  /** What the runs in progress may spend together with those that they start, by the name of their step. */
  private readonly shares: Map<string, Budget>
  constructor(params: Params) {
    this.params = params
    const shares = params.journal.recorded.flatMap(({ step, results }) =>
      step.kind === 'CODE' && step.share && results.size === 0 ? [[step.name, step.share] as const] : [],
    )
    this.shares = new Map(shares)
  }

  /**
   * The budget of a run that is about to start: one of equal parts of what is neither spent nor a share of a run in
   * progress. Undefined without a budget.
   */
  share(name: string, parts: number): Budget | undefined {
    const budget = toBudget(this.params.execution.options)
    if (!budget) return undefined
    const spent = [...this.shares.values()].map(toLimit).reduce(addSpending, this.spent)
    const share = shareBudget(budget, spent, parts)
    this.shares.set(name, share)
    return share
  }

  private get spent(): Spending {
    return toSpending(this.params.journal.progress.childUsage ?? null)
  }

  /** The result of the run of a step. @throws CallWaits if it is suspended; what `callAgent` throws */
  async run(recorded: RecordedStep, input: JsonObject): Promise<Pick<CallResult, 'result' | 'failure'>> {
    const { engine, execution, version, journal, attempt, signal, endsAt } = this.params
    const { step } = recorded
    if (step.kind !== 'CODE' || !step.agent) throw new Error('The step runs no agent.')
    const { agent: slug, share = null, name } = step
    try {
      const resolved = await this.resolve(slug)
      const { result, error } = await callAgent(engine, execution, {
        ...resolved,
        ...{ slug, attempt, signal, endsAt },
        idempotencyKey: callKeyOf(execution, step, { id: attemptId(1) }),
        started: countRuns(journal.recorded, step.number),
        maxChildren: version.execution.maxChildren ?? MAX_CHILDREN.default,
        prepare: (of) => prepareInput(of, input),
        share: () => share,
      })
      this.shares.delete(name)
      return result.ok ? { result } : { result, failure: toFailure(error?.code ?? NOT_RUN) }
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status >= 500) throw error
      this.shares.delete(name)
      return { result: { ok: false, error: error.message }, failure: toFailure(error.code) }
    }
  }

  /** All runs of an agent in this one get the same version of it. */
  private resolve(idOrSlug: string) {
    const { engine, execution } = this.params
    const { organizationId, tenantId, id: executionId } = execution
    const run = { tenantId, executionId }
    return resolveVersion({ store: engine.agents, organizationId, idOrSlug, versionId: undefined, run })
  }
}

/** Code of the error of an agent that was not run: a cycle, too many levels or runs, or an input that it rejects. */
const NOT_RUN = 'AgentNotRun'

const toFailure = (code: string): NonNullable<CallResult['failure']> => ({
  name: 'AgentRunError',
  code,
  retryAt: null,
})

const toLimit = ({ maxTokens, maxCostUsd }: Budget): Spending => ({
  tokens: maxTokens ?? 0,
  costUsd: maxCostUsd ?? 0,
})

/** Before this step, without those that ended before they had an execution. */
function countRuns(recorded: RecordedStep[], before: number): number {
  return recorded.filter(({ step, results }) => {
    if (step.kind !== 'CODE' || !step.agent || step.number >= before) return false
    const ended = results.get(attemptId(1))
    return !ended || ended.result.executionId !== undefined
  }).length
}

/** As the input of a call that says nothing else: adapted, or checked if the agent is strict. */
export async function prepareInput(version: Version, input: JsonObject) {
  const violations = isStrict(version, {}) ? inputValidatorOf(version)(input) : []
  if (violations.length === 0) return passFiles(version, adapterOf(version)(input).input, [])
  const details = violations.map(({ path, message }) => `${path} ${message}`).join(' ')
  return { problem: `The input does not match the schema of the agent ${version.slug}. ${details}` }
}
