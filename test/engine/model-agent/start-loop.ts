import type { LeasedExecution } from '../../../lib/core/execution.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import type { Model, ToolResult } from '../../../lib/core/model.ts'
import type { RecordedStep, StepStore } from '../../../lib/core/step.ts'
import { Journal } from '../../../lib/engine/checkpoints/journal.ts'
import { INLINE } from '../../../lib/engine/checkpoints/stop-reason.ts'
import { outputValidatorOf } from '../../../lib/engine/compiled-schemas.ts'
import { runStepLoop } from '../../../lib/engine/model-agent/step-loop.ts'
import { system } from '../../../lib/system.ts'
import { anExecution, leased } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'

export type LoopSetup = {
  respond: Model['respond']
  userMessage?: Model['userMessage']
  toolMessage?: Model['toolMessage']
  call?: (id: string) => Promise<ToolResult>
  store?: Partial<StepStore>
  /** Steps of an attempt before. */
  recorded?: RecordedStep[]
  /** Of the agent's version. */
  settings?: object
  drain?: AbortSignal
}

/** Starts a step loop on a stub of a model; by default, every tool returns `found` and every write succeeds. */
export async function startLoop(setup: LoopSetup) {
  const { recorded = [], settings = {}, store, drain } = setup
  const execution = leased({ ...anExecution(), attempts: recorded.length > 0 ? 2 : 1 }, 'worker')
  const journal = await openJournal({ execution, drain, store: { read: async () => recorded, ...store } })
  const published = await aModelAgent()
  const version = { ...published, execution: { ...published.execution, ...settings } }
  const call = setup.call ?? (async () => ({ ok: true, value: 'found' }) as const)
  const running = runStepLoop({
    execution,
    files: [],
    version,
    model: {
      name: 'stub/model',
      answerModes: ['tool'],
      respond: setup.respond,
      userMessage: setup.userMessage ?? ((text) => text),
      toolMessage: setup.toolMessage ?? (() => ''),
    },
    fallbacks: {
      hasNext: false,
      next: async () => null,
      reset: () => undefined,
      find: async () => null,
      use: () => undefined,
    },
    original: null,
    tools: { declarations: [], call: ({ id }) => call(id) },
    journal,
    budget: null,
    limits: null,
    live: { begin: () => undefined, add: () => undefined, fail: () => undefined },
    examples: [],
    checkOutput: outputValidatorOf(version),
    system,
    signal: new AbortController().signal,
    retry: INLINE,
    times: { ...leaseTimes(), retryDelayMs: 1 },
    endsAt: Number.POSITIVE_INFINITY,
  })
  return { running, journal }
}

type JournalSetup = {
  execution?: LeasedExecution
  store?: Partial<StepStore>
  confirm?: () => Promise<boolean>
  drain?: AbortSignal | undefined
}

/** The journal of a worker that holds its lease. */
export function openJournal({ execution, store, confirm, drain }: JournalSetup): Promise<Journal> {
  const steps: StepStore = {
    append: async () => true,
    appendResult: async ({ result }) => result,
    getProgress: async () => null,
    close: async () => null,
    hasResult: async () => false,
    read: async () => [],
    probe: () => Promise.reject(new Error('A run does not probe its steps.')),
    list: () => Promise.reject(new Error('A run does not list its steps.')),
    listDecisions: () => Promise.reject(new Error('A run does not list decisions.')),
    keepResponse: () => Promise.reject(new Error('Nobody follows the run.')),
    ...store,
  }
  return Journal.open({
    steps,
    execution: execution ?? leased(anExecution(), 'worker'),
    heartbeat: {
      isHeld: true,
      confirm: confirm ?? (async () => true),
      renew: async () => true,
      report: () => undefined,
      watchedUntil: 0,
    },
    drain,
  })
}
