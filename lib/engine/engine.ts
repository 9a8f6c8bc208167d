import type { Version } from '../core/agent.ts'
import type { Execution, ExecutionSummary } from '../core/execution.ts'
import { LEASE_MS, type Lease, type LeaseTimes, leaseTimes } from '../core/lease-times.ts'
import type { AgentStore } from '../core/ports/agents.ts'
import type { CacheStore, DeclarationStore } from '../core/ports/caches.ts'
import type { ExecutionStore } from '../core/ports/executions.ts'
import type { WebhookStore } from '../core/ports/notifications.ts'
import type { QueuedExecution, RunQueue, SlotQueue } from '../core/ports/queues.ts'
import type { System } from '../core/ports/system.ts'
import type { LimitStore } from '../core/ports/usage.ts'
import type { SignalStore } from '../core/ports/waits.ts'
import type { Recording } from '../core/recording.ts'
import type { Step, StepStore } from '../core/step.ts'
import { traceparentOf } from '../core/traceparent.ts'
import type { Spending } from '../core/usage-limits.ts'
import { type Environment, readSetting } from '../environment.ts'
import type { openModel } from '../models/open-model.ts'
import type { openTools } from '../tools/open-tools.ts'

/** The dependencies of running an execution. */
export type Engine = {
  agents: AgentStore
  executions: ExecutionStore
  steps: StepStore
  signals: SignalStore
  cache: CacheStore
  queue: RunQueue
  /** Keeps declarations of MCP tools for replays; by default, they are not kept. */
  declarations?: DeclarationStore
  /** Has the secrets that sign requests to remote agents. */
  webhooks?: Pick<WebhookStore, 'getSigningSecrets'>
  /** Those of tenants and agents; none by default. */
  limits?: LimitStore & SlotQueue
  system: System
  /** Names models, API keys and secrets; `process.env` by default. */
  environment?: Environment
  /** Called with what code agents print, in addition to the execution's log. */
  onLog?: (text: string) => void
  /** Called after each step that this process has stored, also with those of agents that the agent calls. */
  onStep?: (execution: Execution, step: Step) => void
  /** What opens models and tools; recorded test cases replace it. */
  openModel?: typeof openModel
  openTools?: typeof openTools
  /** The recording of a test case that a run takes its responses and results from; by default, runs have none. */
  recordingOf?: (execution: Execution, version: Version) => Recording | null
  /** Starts the delivery of an execution's events; nobody is told by default. */
  announce?: (execution: Pick<Execution, 'id' | 'organizationId'>) => Promise<void>
  /**
   * Tells destinations of each cost limit of a subject that is used up to its `warnAt`; nobody is told by default. To
   * be called with whatever was read of its spending: the first call that finds so much makes the event. Never throws.
   */
  warnAtLimit?: (spending: Spending) => Promise<void>
  /**
   * Starts the next line of a batch when this one has ended or waits, and notes whether it waits; by default, a message
   * or the timer does.
   */
  afterLine?: (changed: ExecutionSummary) => Promise<void>
  /** Tests shorten these. */
  times?: LeaseTimes
  /** How long the waits of a run may last together; 30 days by default. */
  maxWaitMs?: number
  /** Whether the organization may have one more suspended execution; any number by default. @throws Unavailable */
  maySuspend?: (organizationId: string) => Promise<boolean>
}

/** @throws an Error that names the variable */
export const readTimes = (environment: Environment = process.env): LeaseTimes =>
  leaseTimes(
    // `npm start` sets the variable: its default is another one.
    environment.LEASE_SECONDS ? readSetting('leaseSeconds', environment) * 1000 : LEASE_MS,
    readSetting('retryBackoffMs', environment),
  )

export const timesOf = ({ times = leaseTimes() }: { times?: LeaseTimes | undefined }): LeaseTimes => times

export const newLease = (engine: Engine): Lease => ({
  owner: engine.system.newId(),
  expiresAt: engine.system.now() + timesOf(engine).leaseMs,
})

/** What the run queue has to know of an execution. */
export const queuedOf = ({
  id: executionId,
  organizationId,
  tenantId,
  sharesWorker,
  batch,
}: Pick<Execution, 'id' | 'organizationId' | 'tenantId' | 'sharesWorker' | 'batch'>): QueuedExecution => ({
  executionId,
  organizationId,
  tenantId,
  sharesWorker,
  ...(batch && { isLine: true }),
})

/** The trace context that a run sends: see `traceparentOf`. */
export const traceparentFrom = ({ environment }: Engine, execution: Execution, key?: string): string =>
  traceparentOf(execution, readSetting('otlpSamplePercent', environment), key)

export const isoNow = (system: System): string => new Date(system.now()).toISOString()
