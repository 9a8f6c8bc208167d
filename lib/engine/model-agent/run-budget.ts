import type { Version } from '../../core/agent.ts'
import { attemptId } from '../../core/attempts.ts'
import {
  addSpending,
  allowOutput,
  type Budget,
  findExcess,
  type Spending,
  shareBudget,
  toBudget,
  toSpending,
} from '../../core/budget.ts'
import type { Execution } from '../../core/execution.ts'
import type { ExecutionError } from '../../core/execution-errors.ts'
import type { Model, ModelRequest, ToolCall } from '../../core/model.ts'
import { addUsage, type Usage } from '../../core/model-usage.ts'
import type { RecordedStep, Step } from '../../core/step.ts'
import { trialTooSmall } from '../../limits/trial-limit.ts'
import { estimateInputTokens } from '../../models/estimate-tokens.ts'
import type { ToolDocument } from '../../tools/document/tool-fields.ts'
import type { Journal } from '../checkpoints/journal.ts'

/** What is left of a budget is not enough for the next model request. */
export class BudgetExceeded extends Error {
  override readonly name = 'BudgetExceeded'
  readonly error: ExecutionError

  constructor(error: ExecutionError) {
    super(error.message)
    this.error = error
  }
}

type Params = {
  execution: Pick<Execution, 'options' | 'replay'>
  version: Pick<Version, 'tools'>
  journal: Pick<Journal, 'recorded' | 'usage' | 'progress'>
}

/**
 * The budget of a run, which includes what the agents spend that it calls as tools. All spending derives from the
 * journal, so that no worker starts from zero, and no request is needed to count it: the result of a called agent has
 * what it used, and what could not be stored in the journal is in the record.
 */
export class RunBudget {
  private readonly params: Params
  private readonly budget: Budget

  private constructor(params: Params, budget: Budget) {
    this.params = params
    this.budget = budget
  }

  /** Null for a run without a limit. */
  static of(params: Params): RunBudget | null {
    const budget = toBudget(params.execution.options)
    return budget && new RunBudget(params, budget)
  }

  /** Whether the models of the run need a price. */
  get isInDollars(): boolean {
    return this.budget.maxCostUsd !== null
  }

  /** The limit of a trial, if the run has that in place of one of its own. */
  private get maxTrialCostUsd(): number | undefined {
    const { options, replay } = this.params.execution
    return replay?.maxTrialCostUsd === options.maxCostUsd ? replay?.maxTrialCostUsd : undefined
  }

  /** Without the limit of its trial. */
  private get ownBudget(): Budget {
    return this.maxTrialCostUsd === undefined ? this.budget : { ...this.budget, maxCostUsd: null }
  }

  /**
   * The request with an output limit that the rest of the budget allows. To be called before each request, retries
   * included, when the calls of all steps have ended.
   * @throws BudgetExceeded if its estimated input is too large
   */
  limit(request: ModelRequest, { costOf }: Pick<Model, 'costOf'>): ModelRequest {
    const next = { inputTokens: estimateInputTokens(request), costOf }
    const allowed = this.allow(this.budget, next)
    if (typeof allowed === 'number') return { ...request, maxOutputTokens: allowed }
    const { maxTrialCostUsd } = this
    const isOfTrial = maxTrialCostUsd !== undefined && typeof this.allow(this.ownBudget, next) === 'number'
    throw new BudgetExceeded(isOfTrial ? trialTooSmall(maxTrialCostUsd) : allowed)
  }

  /**
   * As if a request were made that is answered from a recording, which no trial pays for.
   * @throws BudgetExceeded
   */
  checkRecorded(request: ModelRequest, { costOf }: Pick<Model, 'costOf'>): void {
    const allowed = this.allow(this.ownBudget, { inputTokens: estimateInputTokens(request), costOf })
    if (typeof allowed !== 'number') throw new BudgetExceeded(allowed)
  }

  /** The error of a run that has used up its budget, as far as a remote agent has reported; null if it has not. */
  get excess(): ExecutionError | null {
    return findExcess(this.budget, this.spentWith(this.params.journal.recorded))
  }

  private allow(budget: Budget, next: Parameters<typeof allowOutput>[2]): number | ExecutionError {
    return allowOutput(budget, this.spentWith(this.params.journal.recorded), next)
  }

  /**
   * The budget of each of the agents that the last step calls: an equal part of what was left before they began. The
   * same for each worker that starts one of them, so that together they have no more than that.
   */
  share(): Budget {
    const { journal, version } = this.params
    const { recorded } = journal
    const last = recorded.at(-1)
    const agents = last ? agentCallsOf(last.step, version).length : 1
    return shareBudget(this.budget, this.spentWith(recorded.slice(0, -1)), agents)
  }

  /** By the run itself, and by the agents that these steps have called. */
  private spentWith(steps: RecordedStep[]): Spending {
    const used = steps.flatMap(({ results }) =>
      [...results.values()].flatMap(({ result }) => result.usage ?? []),
    )
    const children: Usage | null = used.length > 0 ? used.reduce(addUsage) : null
    const { usage, progress } = this.params.journal
    const replayed = toSpending(progress.replayedUsage ?? null)
    // A trial pays for no recording.
    const counted = this.maxTrialCostUsd === undefined ? replayed : { ...replayed, costUsd: 0 }
    return [toSpending(usage), toSpending(children)].reduce(addSpending, counted)
  }
}

/** The calls of a step that are of another agent. */
export function agentCallsOf(step: Step, version: Pick<Version, 'tools'> | null): Pick<ToolCall, 'id'>[] {
  if (step.kind === 'CODE' && step.agent) return [{ id: attemptId(1) }]
  if (step.kind !== 'MODEL') return []
  const tools = (version?.tools ?? []) as ToolDocument[]
  const isAgent = ({ name, error }: ToolCall) =>
    error === null && tools.some((tool) => tool.name === name && tool.agent !== undefined)
  return step.calls.filter(isAgent)
}
