import { resolveVersionOf } from '../../agents/resolve-version.ts'
import type { Version } from '../../core/agent.ts'
import {
  addSpending,
  type Budget,
  findExcess,
  NO_SPENDING,
  type Spending,
  shareBudget,
  toBudget,
  toSpending,
} from '../../core/budget.ts'
import type { Execution, ExecutionError, LostStep } from '../../core/execution.ts'
import type { ToolCall } from '../../core/model.ts'
import { type RecordedStep, type Step, stillLost } from '../../core/step.ts'
import type { ToolDocument } from '../../tools/document/tool-fields.ts'
import type { Engine } from '../engine.ts'
import { callKeyOf, childId } from './call-key.ts'

type Params = {
  engine: Engine
  execution: Execution
  version: Version
  journal: { readonly recorded: RecordedStep[]; readonly lostSteps: LostStep[] }
}

/**
 * The budget of a run, which includes what the agents spend that it calls as tools. All spending derives from the
 * journals of the run and of these agents, so that no worker starts from zero, and no write is needed to count it. What
 * could not be stored in a journal is in the record.
 */
export class RunBudget {
  private readonly params: Params
  private readonly budget: Budget
  /** Of the first steps, in order; a chain, because parallel calls ask at the same time. */
  private counted: Promise<{ steps: number; spent: Spending }>

  private constructor(params: Params, budget: Budget) {
    this.params = params
    this.budget = budget
    this.counted = Promise.resolve({ steps: 0, spent: lostSpending(params.journal.lostSteps) })
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

  /** To be called before each model request, when the calls of all steps have ended. @throws Unavailable */
  async findExcess(): Promise<ExecutionError | null> {
    return findExcess(this.budget, await this.spentIn(this.params.journal.recorded.length))
  }

  /** The budget of each of the agents that the last step calls. @throws Unavailable */
  async share(): Promise<Budget> {
    const { recorded } = this.params.journal
    const last = recorded.at(-1)
    if (!last) return this.budget
    const spent = addSpending(await this.spentIn(recorded.length - 1), ownSpending(last.step))
    return shareBudget(this.budget, spent, agentCallsOf(last.step, this.params.version).length)
  }

  /** What a number of first steps have spent, whose calls have ended. */
  private spentIn(steps: number): Promise<Spending> {
    const { engine, execution, version, journal } = this.params
    this.counted = this.counted.then(async (counted) => {
      const added = journal.recorded.slice(counted.steps, steps)
      const spent = await spendingOf(engine, execution, version, added)
      return { steps: counted.steps + added.length, spent: addSpending(counted.spent, spent) }
    })
    return this.counted.then(({ spent }) => spent)
  }
}

async function spendingOf(
  engine: Engine,
  execution: Execution,
  version: Version | null,
  recorded: RecordedStep[],
): Promise<Spending> {
  const { organizationId } = execution
  const children = recorded.flatMap(({ step }) =>
    agentCallsOf(step, version).map((call) => childId(execution, callKeyOf(execution, step, call))),
  )
  let spent = NO_SPENDING
  for (const { step } of recorded) spent = addSpending(spent, ownSpending(step))
  for (const id of children) spent = addSpending(spent, await readSpending(engine, { organizationId, id }))
  return spent
}

/** From the journal of a called agent: the record of one that was cancelled may lag behind. */
async function readSpending(engine: Engine, key: { organizationId: string; id: string }): Promise<Spending> {
  const execution = await engine.executions.get(key)
  if (!execution) return NO_SPENDING
  const [version, recorded] = await Promise.all([
    resolveVersionOf(engine.agents, execution),
    engine.steps.read({ executionId: key.id }),
  ])
  const spent = await spendingOf(engine, execution, version, recorded)
  return addSpending(spent, lostSpending(stillLost(execution.lostSteps, recorded)))
}

const lostSpending = (lost: LostStep[]): Spending =>
  lost.map(({ usage }) => (usage ? toSpending(usage) : NO_SPENDING)).reduce(addSpending, NO_SPENDING)

const ownSpending = (step: Step): Spending => (step.kind === 'MODEL' ? toSpending(step.usage) : NO_SPENDING)

/** The calls of a step whose tool is another agent. */
export function agentCallsOf(step: Step, version: Version | null): ToolCall[] {
  if (step.kind !== 'MODEL') return []
  const tools = (version?.tools ?? []) as ToolDocument[]
  const isAgent = ({ name, error }: ToolCall) =>
    error === null && tools.some((tool) => tool.name === name && tool.agent !== undefined)
  return step.calls.filter(isAgent)
}
