import pLimit from 'p-limit'
import { expect, inject, it } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { LEASE_MS } from '../../../lib/core/limits.ts'
import type { RecordedStep } from '../../../lib/core/step.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { type Random, seededRandom } from '../../support/data/random.ts'
import { readSeed, TEST_SEED } from '../../support/data/seed.ts'
import { executionOf, runOptions } from '../../support/engine/executions.ts'
import { aModelAgent, finalAnswer } from '../../support/engine/model-agent.ts'
import { type ScriptedEngine, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import type { Reply } from '../../support/scripted-model/turn.ts'

/** Fewer input tokens than are estimated, so that no run may exceed its budget. */
const MAX_RESPONSE = { inputTokens: 100, outputTokens: 2_000 }
/** US dollars per million tokens: a token costs a thousandth of a cent, whether input or output. */
const MODEL_PRICES = '{"openai-compatible/*": {"input": 10, "output": 10}}'
const DOLLARS_PER_TOKEN = 0.00001

const AGENTS = { boss: ['left', 'right'], left: ['leaf'], right: ['leaf'], leaf: [] } as const
type Slug = keyof typeof AGENTS

/** Agents that call each other and use a random number of tokens. */
async function publishAgents({ scriptModel }: ScriptedEngine): Promise<Record<Slug, Version>> {
  const organizationId = system.newId()
  const entries = Object.entries(AGENTS).map(async ([slug, tools]) => {
    const random = seededRandom(1, slug)
    const { model } = scriptModel(({ maxOutputTokens }) =>
      randomResponse(random, tools, maxOutputTokens ?? 0),
    )
    const version = await aModelAgent({
      organizationId,
      slug,
      model,
      tools: tools.map((agent) => ({ name: `ask_${agent}`, agent })),
    })
    return [slug, version]
  })
  return Object.fromEntries(await Promise.all(entries))
}

function randomResponse(random: Random, agents: readonly string[], maxTokens: number): Reply {
  const usage = {
    inputTokens: random.between(0, MAX_RESPONSE.inputTokens),
    outputTokens: Math.min(random.between(1, MAX_RESPONSE.outputTokens), maxTokens),
  }
  if (random.next() < 0.1) return { cut: { text: 'word '.repeat(usage.outputTokens / 2) }, by: 'close' }
  if (random.next() < 0.1) return { usage, calls: [finalAnswer({ answer: 'Because.' })] }
  if (agents.length === 0 || random.next() < 0.3) return { usage, calls: [finalAnswer({ wrong: true })] }
  const calls = Array.from({ length: random.between(1, 3) }, () => ({
    name: `ask_${agents[random.between(0, agents.length - 1)]}`,
    input: { question: 'Why?' },
  }))
  return { usage, calls }
}

type Worker = { engine: Engine; diesAt: number; laterMs: number; created: Set<string> }

/** An engine whose worker dies at its n-th write, this long from now. Adds the executions it creates to `created`. */
function workerEngine({ engine, diesAt, laterMs, created }: Worker): Engine {
  let writes = 0
  type Operation<Params extends unknown[], Result> = (...params: Params) => Promise<Result>
  const alive =
    <Params extends unknown[], Result>(operation: Operation<Params, Result>) =>
    async (...params: Params): Promise<Result> => {
      if (writes > diesAt) throw new Error('The worker is dead.')
      return operation(...params)
    }
  const dying = <Params extends unknown[], Result>(write: Operation<Params, Result>) =>
    alive(async (...params: Params): Promise<Result> => {
      if (++writes > diesAt) throw new Error('The worker dies.')
      return write(...params)
    })
  const { executions, steps } = engine
  return {
    ...engine,
    system: { ...system, now: () => Date.now() + laterMs },
    executions: {
      ...executions,
      create: dying((params) => {
        created.add(params.execution.id)
        return executions.create(params)
      }),
      renew: dying(executions.renew),
      finish: dying(executions.finish),
      release: dying(executions.release),
      getStatus: alive(executions.getStatus),
      getState: alive(executions.getState),
      isLeasedBy: alive(executions.isLeasedBy),
    },
    steps: { ...steps, append: dying(steps.append), appendResult: dying(steps.appendResult) },
  }
}

/** Runs an execution to its end on workers that are killed; after each, others take over it and some of its agents. */
async function runWithKills(root: Execution, random: Random, engine: Engine): Promise<Set<string>> {
  const created = new Set([root.id])
  const kills = random.between(0, 3)
  for (let worker = 0; worker <= kills; worker++) {
    const diesAt = worker === kills ? Number.POSITIVE_INFINITY : random.between(1, 12)
    const others = random.shuffle([...created].filter((id) => id !== root.id)).slice(0, worker === 0 ? 0 : 2)
    const mortal = workerEngine({ engine, diesAt, laterMs: 2 * LEASE_MS * worker, created })
    await Promise.allSettled([...others, root.id].map((id) => processMessage(mortal, id)))
  }
  return created
}

type Run = { execution: Execution; steps: RecordedStep[] }

async function readRun(engine: Engine, organizationId: string, id: string): Promise<Run | null> {
  const execution = await engine.executions.get({ organizationId, id })
  return execution && { execution, steps: await engine.steps.read({ executionId: id }) }
}

/** Of the steps of a run, and of its lost responses. */
function tokensOf({ execution: { lostUsage }, steps }: Run): number {
  const used = steps.map(({ step }) => (step.kind === 'MODEL' ? step.usage : null))
  return [...used, lostUsage].reduce(
    (sum, usage) => sum + (usage ? usage.inputTokens + usage.outputTokens : 0),
    0,
  )
}

const scripted = await startScriptedEngine()
const RUNS = inject('isNightly') ? 1_000 : 40
const FIRST_SEED = inject('isNightly') ? readSeed() : 1

it(`no run of ${RUNS} spends more than its budget with the agents that it calls, whatever is used, cut and killed`, async () => {
  console.log(`budgets: ${TEST_SEED}=${FIRST_SEED} npx vitest run --mode nightly run-budget.slow`)
  const engine = { ...scripted.engine, environment: { ...scripted.engine.environment, MODEL_PRICES } }
  const { boss } = await publishAgents(scripted)
  const limit = pLimit(16)
  const runs = Array.from({ length: RUNS }, (_, n) => limit(() => checkBudget(FIRST_SEED + n, boss, engine)))
  const outcomes = await Promise.all(runs)
  expect(outcomes.filter((outcome) => outcome === 'BudgetExceeded').length).toBeGreaterThan(RUNS / 4)
  expect(outcomes).toContain('SUCCESS')
}, 1_800_000)

/** Returns how the run ended. */
async function checkBudget(seed: number, version: Version, engine: Engine): Promise<string> {
  const random = seededRandom(seed, 'run')
  const maxTokens = random.between(1, 30_000)
  const isInDollars = random.next() < 0.5
  const budget = isInDollars ? { maxCostUsd: maxTokens * DOLLARS_PER_TOKEN } : { maxTokens }
  const deadlineMs = 24 * 60 * 60 * 1000
  const root = executionOf(version, { input: { question: 'Why?' }, options: runOptions(budget), deadlineMs })
  await engine.executions.create({ execution: root })
  const ids = await runWithKills(root, random, engine)
  const found = await Promise.all([...ids].map((id) => readRun(engine, root.organizationId, id)))
  const runs = found.filter((run) => run !== null)
  const rootRun = runs.find(({ execution }) => execution.id === root.id)
  if (!rootRun) throw new Error('The run is missing.')
  const { status, error } = rootRun.execution
  const message = `seed ${seed}`
  expect(status, message).not.toBe('IN_PROGRESS')
  const total = runs.reduce((sum, run) => sum + tokensOf(run), 0)
  expect(total, message).toBeLessThanOrEqual(maxTokens)
  const { usage, childUsage } = rootRun.execution
  expect(usage.inputTokens + usage.outputTokens, message).toBe(tokensOf(rootRun))
  const ofChildren = childUsage ? childUsage.inputTokens + childUsage.outputTokens : 0
  expect(ofChildren, message).toBe(total - tokensOf(rootRun))
  for (const run of runs) {
    const limit = run.execution.options.maxTokens ?? Number.POSITIVE_INFINITY
    expect(tokensOf(run), message).toBeLessThanOrEqual(limit)
  }
  if (error?.code === 'BudgetExceeded') {
    const costUsd = expect.closeTo(total * DOLLARS_PER_TOKEN, 9)
    expect(error.spent, message).toEqual({ tokens: total, costUsd })
  }
  return error?.code ?? status
}
