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
  const { recorded = [], settings = {}, store, drain, respond } = setup
  const { userMessage = (text: string) => text, toolMessage = () => '' } = setup
  const execution = leased({ ...anExecution(), attempts: recorded.length > 0 ? 2 : 1 }, 'worker')
  const journal = await openJournal({ execution, drain, store: { read: async () => recorded, ...store } })
  const published = await aModelAgent()
  const version = { ...published, execution: { ...published.execution, ...settings } }
  const call = setup.call ?? (async () => ({ ok: true, value: 'found' }) as const)
  const ignore = () => undefined
  const running = runStepLoop({
    execution,
    files: [],
    version,
    model: { name: 'stub/model', answerModes: ['tool'], respond, userMessage, toolMessage },
    fallbacks: { hasNext: false, next: async () => null, find: async () => null, reset: ignore, use: ignore },
    original: null,
    tools: { declarations: [], call: ({ id }) => call(id) },
    journal,
    budget: null,
    limits: null,
    live: { begin: ignore, add: ignore, fail: ignore },
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

const unused = () => Promise.reject(new Error('A run does not need this.'))

/** The journal of a worker that holds its lease. */
export function openJournal({
  execution = leased(anExecution(), 'worker'),
  store,
  confirm = async () => true,
  drain,
}: JournalSetup): Promise<Journal> {
  const steps: StepStore = {
    append: async () => true,
    appendResult: async ({ result }) => result,
    getProgress: async () => null,
    close: async () => null,
    hasResult: async () => false,
    read: async () => [],
    ...{ probe: unused, list: unused, listDecisions: unused, keepResponse: unused },
    ...store,
  }
  const held = { isHeld: true, renew: async () => true, report: () => undefined, watchedUntil: 0 }
  return Journal.open({ steps, execution, heartbeat: { ...held, confirm }, drain })
}
