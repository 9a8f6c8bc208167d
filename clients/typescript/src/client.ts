import type { BatchInputs, BatchLine } from './batches/parts.ts'
import { readResults } from './batches/results.ts'
import { runBatches, toBatchRequest, waitForBatch } from './batches/run-batches.ts'
import { Caller } from './http/caller.ts'
import type { Connection } from './http/request.ts'
import {
  agentPath,
  batchPath,
  executionPath,
  limitsPath,
  rolloutPath,
  schedulePath,
  toQuery,
  trialPath,
  versionPath,
  webhookPath,
} from './http/request.ts'
import type {
  AgentFilters,
  ApprovalFilters,
  AuditFilters,
  BatchFilters,
  BatchOptions,
  BatchWaitOptions,
  CallOptions,
  ClientOptions,
  ExecutionFilters,
  GetOptions,
  LimitFilters,
  LineFilters,
  ListOptions,
  RunOptions,
  SearchOptions,
  SignalOptions,
  StartBatchOptions,
  TrialFilters,
  TrialItemFilters,
  UsageOptions,
  WaitOptions,
} from './options.ts'
import type {
  Agent,
  AgentTypes,
  AnyAgents,
  Approval,
  AuditEntry,
  Batch,
  BatchResult,
  ChangedBatch,
  ChangedExecution,
  ChangedTrial,
  CreatedToken,
  CreatedWebhook,
  Decision,
  DecisionBody,
  Delivery,
  Execution,
  ExecutionComparison,
  ExecutionSummary,
  FeedbackBody,
  LimitSubject,
  Limits,
  LimitsBody,
  LimitsDetails,
  Me,
  OpenBatchResult,
  PublishBody,
  RerunBody,
  Rollout,
  RolloutBody,
  RotatedSecret,
  Schedule,
  ScheduleBody,
  SentSignal,
  Signal,
  SlugOf,
  Step,
  SucceededExecution,
  TestResult,
  Token,
  TokenBody,
  Trial,
  TrialBody,
  TrialItem,
  UsageRow,
  Version,
  VersionDetails,
  Webhook,
  WebhookBody,
  WebhookChanges,
} from './records.ts'
import { type ExecutionEvent, type LiveEvent, readEvents } from './runs/events.ts'
import {
  newIdempotencyKey,
  openEvents,
  openRunEvents,
  runToEnd,
  startRun,
  toRun,
  waitForEnd,
} from './runs/runs.ts'
import { parseWebhook, type WebhookEvent, type WebhookHeaders } from './webhooks.ts'

type Output = Record<string, unknown>

/** `deltas`: whether to yield what models are writing. */
type StreamOptions<Deltas extends boolean> = { deltas?: Deltas | undefined }

type StreamEvent<Output, Deltas extends boolean> =
  | ExecutionEvent<Output>
  | (Deltas extends true ? LiveEvent<Output> : never)

/** The ID of an execution, or its record, which also has the type of the output. */
type ExecutionOrId<Output> = string | Execution<Output>

const idOf = (record: string | { id: string }) => (typeof record === 'string' ? record : record.id)

type BatchOrId = string | Batch

/**
 * A client of the Agent Execution Service. Calls reject with an `AgentError`, or with the reason of their signal.
 * Requests are repeated after broken connections, 408, 429, 502, 503, 504 and `InternalError`, until the deadline of
 * the call.
 * @typeParam Agents input and output types by slug, written by `agent-execution types`
 */
export class Client<Agents extends AgentTypes<Agents> = AnyAgents> {
  private readonly caller: Caller
  private readonly connection: Connection

  /** @throws TypeError if an option is not valid */
  constructor(options: ClientOptions) {
    this.caller = new Caller(options)
    this.connection = this.caller.connection
  }

  /** Runs an agent and returns its output, however long that takes, also if the run waits for a person or a time. */
  async run<Slug extends SlugOf<Agents>>(
    agent: Slug,
    input: Agents[Slug]['input'],
    options: RunOptions = {},
  ): Promise<Agents[Slug]['output']> {
    const run = toRun(this.connection, agent, input, options)
    return this.caller.waitWithin(
      options,
      (call) => this.caller.findRun(call, run),
      (call) => runToEnd(this.connection, call, run, options.onWaiting),
    )
  }

  /** Starts a run and returns its execution, which is in progress unless its result was cached. */
  async start<Slug extends SlugOf<Agents>>(
    agent: Slug,
    input: Agents[Slug]['input'],
    options: Omit<RunOptions, 'cancelOnAbort' | 'onWaiting'> = {},
  ): Promise<Execution<Agents[Slug]['output']>> {
    const run = toRun(this.connection, agent, input, options)
    return this.caller.within(options, (call) => startRun(this.connection, call, run))
  }

  /** Waits until an execution has succeeded. Rejects with `ExecutionFailed` if it ends in ERROR. */
  async wait<O = Output>(
    execution: ExecutionOrId<O>,
    options: WaitOptions = {},
  ): Promise<SucceededExecution<O>> {
    const id = idOf(execution)
    return this.caller.waitWithin(
      options,
      async () => id,
      (call) => waitForEnd<O>(this.connection, call, id, { onWaiting: options.onWaiting }),
    )
  }

  /**
   * Runs an agent and yields what happens, each event once. The first event is requested when iteration begins. With
   * `deltas`, also what models are writing, and the output so far.
   */
  stream<Slug extends SlugOf<Agents>, Deltas extends boolean = false>(
    agent: Slug,
    input: Agents[Slug]['input'],
    options?: Omit<RunOptions, 'onWaiting'> & StreamOptions<Deltas>,
  ): AsyncGenerator<StreamEvent<Agents[Slug]['output'], Deltas>, void, undefined>
  async *stream(
    agent: string,
    input: unknown,
    options: Omit<RunOptions, 'onWaiting'> & StreamOptions<boolean> = {},
  ) {
    const run = toRun(this.connection, agent, input, options)
    const call = this.caller.open(options, Number.POSITIVE_INFINITY)
    const openStream = (after: string) => openRunEvents(this.connection, call, run, after)
    try {
      yield* readEvents(this.connection, call, openStream, '0')
    } catch (error) {
      await this.caller.cancelIfAborted(call, options, () => this.caller.findRun(call, run))
      throw error
    } finally {
      call.close()
    }
  }

  /** Yields the events of an execution: the steps after the step `after`, and what follows. `deltas`: see `stream`. */
  events<O = Output, Deltas extends boolean = false>(
    execution: ExecutionOrId<O>,
    options?: CallOptions & StreamOptions<Deltas> & { after?: number | undefined },
  ): AsyncGenerator<StreamEvent<O, Deltas>, void, undefined>
  async *events(
    execution: ExecutionOrId<unknown>,
    {
      after = 0,
      deltas,
      ...options
    }: CallOptions & StreamOptions<boolean> & { after?: number | undefined } = {},
  ) {
    const call = this.caller.open(options, Number.POSITIVE_INFINITY)
    const openStream = (last: string) =>
      openEvents(this.connection, call, idOf(execution), { after: last, deltas })
    try {
      yield* readEvents(this.connection, call, openStream, String(after))
    } finally {
      call.close()
    }
  }

  /** The execution as it is now. */
  get<O = Output>(
    execution: ExecutionOrId<O>,
    { adaptedInput, requestedOptions, ...options }: GetOptions = {},
  ): Promise<Execution<O>> {
    const query = toQuery({ adaptedInput, requestedOptions })
    return this.caller.send({ path: executionPath(idOf(execution)) + query }, options)
  }

  /** The steps of an execution, in order. */
  steps(execution: ExecutionOrId<unknown>, options: ListOptions = {}): AsyncGenerator<Step, void, undefined> {
    return this.caller.list(`${executionPath(idOf(execution))}/steps`, options)
  }

  /** Ends an execution in ERROR `Cancelled`, unless it is final already. */
  cancel<O = Output>(execution: ExecutionOrId<O>, options: CallOptions = {}): Promise<ChangedExecution<O>> {
    return this.caller.send({ method: 'POST', path: `${executionPath(idOf(execution))}/cancel` }, options)
  }

  /**
   * Runs the agent of an execution again with the same input. Without options, it is a new run of the current version.
   * Returns the new execution.
   */
  async rerun<O = Output>(
    execution: ExecutionOrId<O>,
    rerun: RerunBody = {},
    { idempotencyKey = newIdempotencyKey(), ...options }: SignalOptions = {},
  ): Promise<Execution<O>> {
    const body = this.connection.stringify(rerun)
    const headers = { 'Idempotency-Key': idempotencyKey }
    const path = `${executionPath(idOf(execution))}/rerun`
    return this.caller.send({ method: 'POST', path, headers, body }, options)
  }

  /** What differs in the results and the steps of two executions. */
  compare(
    execution: ExecutionOrId<unknown>,
    other: ExecutionOrId<unknown>,
    options: CallOptions = {},
  ): Promise<ExecutionComparison> {
    const path = `${executionPath(idOf(execution))}/compare/${encodeURIComponent(idOf(other))}`
    return this.caller.send({ path }, options)
  }

  /** Deletes a final execution and everything that belongs to it. */
  delete(execution: ExecutionOrId<unknown>, options: CallOptions = {}): Promise<void> {
    return this.caller.send({ method: 'DELETE', path: executionPath(idOf(execution)) }, options)
  }

  /** Rates or corrects the result of an execution. Replaces earlier feedback. */
  async feedback<O = Output>(
    execution: ExecutionOrId<O>,
    feedback: FeedbackBody,
    options: CallOptions = {},
  ): Promise<ChangedExecution<O>> {
    const body = this.connection.stringify(feedback)
    return this.caller.send(
      { method: 'PUT', path: `${executionPath(idOf(execution))}/feedback`, body },
      options,
    )
  }

  /** The approvals that wait for a decision, newest first. */
  approvals(options: ListOptions & ApprovalFilters = {}): AsyncGenerator<Approval, void, undefined> {
    return this.caller.list('/v1/approvals', options)
  }

  /** Decides on an approval. The first decision counts; the same one again changes nothing. */
  async decide(
    execution: ExecutionOrId<unknown>,
    approvalId: string,
    decision: DecisionBody,
    options: CallOptions = {},
  ): Promise<Decision> {
    const body = this.connection.stringify(decision)
    const path = `${executionPath(idOf(execution))}/approvals/${encodeURIComponent(approvalId)}`
    return this.caller.send({ method: 'POST', path, body }, options)
  }

  /** Sends a signal to an execution, which need not wait for it yet. Returns the ID of the signal. */
  async signal(
    execution: ExecutionOrId<unknown>,
    name: string,
    data: unknown = null,
    { idempotencyKey = newIdempotencyKey(), ...options }: SignalOptions = {},
  ): Promise<SentSignal> {
    const body = this.connection.stringify(data)
    const path = `${executionPath(idOf(execution))}/signals/${encodeURIComponent(name)}`
    const headers = { 'Idempotency-Key': idempotencyKey }
    return this.caller.send({ method: 'POST', path, headers, body }, options)
  }

  /** The signals of an execution that no wait has taken, oldest first. */
  signals(
    execution: ExecutionOrId<unknown>,
    options: ListOptions = {},
  ): AsyncGenerator<Signal, void, undefined> {
    return this.caller.list(`${executionPath(idOf(execution))}/signals`, options)
  }

  /** Executions, newest first. With `fields: 'summary'` without their payloads. */
  executions(
    options: ListOptions & SearchOptions & ExecutionFilters & { fields: 'summary' },
  ): AsyncGenerator<ExecutionSummary, void, undefined>
  executions(
    options?: ListOptions & SearchOptions & ExecutionFilters,
  ): AsyncGenerator<Execution, void, undefined>
  executions({ agent, ...options }: ListOptions & SearchOptions & ExecutionFilters = {}) {
    return this.caller.list(
      agent === undefined ? '/v1/agent_executions' : `${agentPath(agent)}/executions`,
      options,
    )
  }

  /**
   * Runs an agent with each of the inputs, and yields the results in their order. The first batch starts when iteration
   * begins; each holds up to 10,000 inputs, and the next one starts when the results of the one before are read. What
   * ends the iteration leaves its batch running: `ids` are those that were started.
   */
  batch<Slug extends SlugOf<Agents>>(
    agent: Slug,
    inputs: BatchInputs<Agents[Slug]['input']>,
    options: BatchOptions = {},
  ): AsyncGenerator<BatchResult<Agents[Slug]['output']>, void, undefined> & { readonly ids: string[] } {
    const ids: string[] = []
    return Object.assign(runBatches<Agents[Slug]['output']>(this.caller, agent, inputs, options, ids), {
      ids,
    })
  }

  /** Starts one batch. */
  async createBatch<Slug extends SlugOf<Agents>>(
    agent: Slug,
    lines: Iterable<BatchLine<Agents[Slug]['input']>>,
    { signal, timeoutMs, idempotencyKey = newIdempotencyKey(), ...parameters }: StartBatchOptions = {},
  ): Promise<Batch> {
    const body = Array.from(lines, (line) => `${this.connection.stringify(line)}\n`).join('')
    return this.caller.send(toBatchRequest(agent, body, idempotencyKey, parameters), { signal, timeoutMs })
  }

  /** Batches, newest first. */
  batches(options: BatchFilters = {}): AsyncGenerator<Batch, void, undefined> {
    return this.caller.list('/v1/batches', options)
  }

  getBatch(batch: BatchOrId, options: CallOptions = {}): Promise<Batch> {
    return this.caller.send({ path: batchPath(idOf(batch)) }, options)
  }

  /** Waits until a batch has ended, whatever became of its lines. */
  waitForBatch(
    batch: BatchOrId,
    { onProgress, timeoutMs = Number.POSITIVE_INFINITY, signal }: BatchWaitOptions = {},
  ): Promise<Batch> {
    return this.caller.within({ timeoutMs, signal }, (call) =>
      waitForBatch(this.connection, call, idOf(batch), onProgress),
    )
  }

  /** What became of the lines of a batch so far, in their order. */
  async *batchResults<O = Output>(
    batch: BatchOrId,
    options: CallOptions = {},
  ): AsyncGenerator<OpenBatchResult<O>, void, undefined> {
    const record = typeof batch === 'string' ? await this.getBatch(batch, options) : batch
    const call = this.caller.open(options, Number.POSITIVE_INFINITY)
    try {
      yield* readResults<OpenBatchResult<O>>(this.connection, call, record)
    } finally {
      call.close()
    }
  }

  /** The executions that a batch has started, in the order of its lines. */
  batchExecutions(
    batch: BatchOrId,
    options: ListOptions & LineFilters = {},
  ): AsyncGenerator<Execution, void, undefined> {
    return this.caller.list(`${batchPath(idOf(batch))}/executions`, options)
  }

  /** Starts no further lines, and ends those in progress in ERROR `Cancelled`. */
  cancelBatch(batch: BatchOrId, options: CallOptions = {}): Promise<ChangedBatch> {
    return this.caller.send({ method: 'POST', path: `${batchPath(idOf(batch))}/cancel` }, options)
  }

  /** Starts a new batch of the failed lines of one that has ended. `version`: by default, that of the batch. */
  async retryBatch(
    batch: BatchOrId,
    {
      idempotencyKey = newIdempotencyKey(),
      version,
      ...options
    }: SignalOptions & { version?: string | undefined } = {},
  ): Promise<ChangedBatch> {
    const headers = { 'Idempotency-Key': idempotencyKey }
    const path = `${batchPath(idOf(batch))}/retry-failed${toQuery({ version })}`
    return this.caller.send({ method: 'POST', path, headers }, options)
  }

  /** Deletes a batch that has ended, with its executions. */
  deleteBatch(batch: BatchOrId, options: CallOptions = {}): Promise<void> {
    return this.caller.send({ method: 'DELETE', path: batchPath(idOf(batch)) }, options)
  }

  /** Starts a trial: repeats executions that have ended on a version. */
  async createTrial(
    agent: SlugOf<Agents>,
    versionId: string,
    trial: TrialBody,
    { idempotencyKey = newIdempotencyKey(), ...options }: SignalOptions = {},
  ): Promise<ChangedTrial> {
    const body = this.connection.stringify(trial)
    const headers = { 'Idempotency-Key': idempotencyKey }
    const path = `${versionPath(agent, versionId)}/trials`
    return this.caller.send({ method: 'POST', path, headers, body }, options)
  }

  /** Trials, newest first. */
  trials(options: TrialFilters = {}): AsyncGenerator<Trial, void, undefined> {
    return this.caller.list('/v1/trials', options)
  }

  getTrial(trial: string | Trial, options: CallOptions = {}): Promise<Trial> {
    return this.caller.send({ path: trialPath(idOf(trial)) }, options)
  }

  /** The executions of a trial with their verdicts, in the order of their originals. */
  trialItems(
    trial: string | Trial,
    options: TrialItemFilters = {},
  ): AsyncGenerator<TrialItem, void, undefined> {
    return this.caller.list(`${trialPath(idOf(trial))}/items`, options)
  }

  /** Starts no further executions, and ends those in progress in ERROR `Cancelled`. */
  cancelTrial(trial: string | Trial, options: CallOptions = {}): Promise<ChangedTrial> {
    return this.caller.send({ method: 'POST', path: `${trialPath(idOf(trial))}/cancel` }, options)
  }

  /** Deletes a trial that has ended, with its executions. */
  deleteTrial(trial: string | Trial, options: CallOptions = {}): Promise<void> {
    return this.caller.send({ method: 'DELETE', path: trialPath(idOf(trial)) }, options)
  }

  /** The limits of agents and tenants. */
  limits(options: ListOptions & LimitFilters = {}): AsyncGenerator<Limits, void, undefined> {
    return this.caller.list('/v1/limits', options)
  }

  /** The limits of a tenant or an agent, and what is used of them. */
  async limitsOf(subject: LimitSubject<SlugOf<Agents>>, options: CallOptions = {}): Promise<LimitsDetails> {
    return this.caller.send({ path: limitsPath(subject) }, options)
  }

  /** Replaces all limits of a tenant or an agent: those that are absent end. */
  async setLimits(
    subject: LimitSubject<SlugOf<Agents>>,
    limits: LimitsBody,
    options: CallOptions = {},
  ): Promise<Limits> {
    const body = this.connection.stringify(limits)
    return this.caller.send({ method: 'PUT', path: limitsPath(subject), body }, options)
  }

  async deleteLimits(subject: LimitSubject<SlugOf<Agents>>, options: CallOptions = {}): Promise<void> {
    return this.caller.send({ method: 'DELETE', path: limitsPath(subject) }, options)
  }

  /** What was changed, by whom, newest first. */
  audit(options: ListOptions & AuditFilters = {}): AsyncGenerator<AuditEntry, void, undefined> {
    return this.caller.list('/v1/audit', options)
  }

  /** The schedules of an agent. */
  schedules(agent: SlugOf<Agents>, options: ListOptions = {}): AsyncGenerator<Schedule, void, undefined> {
    return this.caller.list(`${agentPath(agent)}/schedules`, options)
  }

  schedule(agent: SlugOf<Agents>, name: string, options: CallOptions = {}): Promise<Schedule> {
    return this.caller.send({ path: schedulePath(agent, name) }, options)
  }

  /** Creates a schedule or replaces it. */
  async setSchedule(
    agent: SlugOf<Agents>,
    name: string,
    schedule: ScheduleBody,
    options: CallOptions = {},
  ): Promise<Schedule> {
    const body = this.connection.stringify(schedule)
    return this.caller.send({ method: 'PUT', path: schedulePath(agent, name), body }, options)
  }

  deleteSchedule(agent: SlugOf<Agents>, name: string, options: CallOptions = {}): Promise<void> {
    return this.caller.send({ method: 'DELETE', path: schedulePath(agent, name) }, options)
  }

  /** Starts a run of a schedule now. */
  async runSchedule(
    agent: SlugOf<Agents>,
    name: string,
    { idempotencyKey = newIdempotencyKey(), ...options }: SignalOptions = {},
  ): Promise<ChangedExecution> {
    const headers = { 'Idempotency-Key': idempotencyKey }
    return this.caller.send({ method: 'POST', path: `${schedulePath(agent, name)}/run`, headers }, options)
  }

  /** The agents of the organization, newest first. */
  agents(options: ListOptions & AgentFilters = {}): AsyncGenerator<Agent, void, undefined> {
    return this.caller.list('/v1/agents', options)
  }

  agent(agent: SlugOf<Agents>, options: CallOptions = {}): Promise<Agent> {
    return this.caller.send({ path: agentPath(agent) }, options)
  }

  /** The versions of an agent, newest first. */
  versions(agent: SlugOf<Agents>, options: ListOptions = {}): AsyncGenerator<Version, void, undefined> {
    return this.caller.list(`${agentPath(agent)}/versions`, options)
  }

  /** A version with its whole document. */
  version(agent: SlugOf<Agents>, versionId: string, options: CallOptions = {}): Promise<VersionDetails> {
    return this.caller.send({ path: versionPath(agent, versionId) }, options)
  }

  /** Publishes an agent. Content that is published already creates no version: its version is returned. */
  async publish(agent: PublishBody, options: CallOptions = {}): Promise<Version> {
    const body = this.connection.stringify(agent)
    return this.caller.send({ method: 'POST', path: '/v1/agents', body }, options)
  }

  /**
   * Makes a version current: a draft as it is, or an older version again.
   * @param options `trial`: the ID of one of the version, which has to meet the limits of the current version
   */
  promote(
    agent: SlugOf<Agents>,
    versionId: string,
    { trial, ...options }: CallOptions & { trial?: string | undefined } = {},
  ): Promise<Agent> {
    const path = `${versionPath(agent, versionId)}/promote${toQuery({ trial })}`
    return this.caller.send({ method: 'POST', path }, options)
  }

  /** The rollout of an agent. */
  rollout(agent: SlugOf<Agents>, options: CallOptions = {}): Promise<Rollout> {
    return this.caller.send({ path: rolloutPath(agent) }, options)
  }

  /** Starts or changes a rollout: a part of the runs gets another version than the current one. */
  setRollout(agent: SlugOf<Agents>, rollout: RolloutBody, options: CallOptions = {}): Promise<Rollout> {
    const body = this.connection.stringify(rollout)
    return this.caller.send({ method: 'PUT', path: rolloutPath(agent), body }, options)
  }

  /** All runs get the current version again. */
  endRollout(agent: SlugOf<Agents>, options: CallOptions = {}): Promise<void> {
    return this.caller.send({ method: 'DELETE', path: rolloutPath(agent) }, options)
  }

  /** A retired version accepts no new runs and cannot become current; its runs in progress finish. */
  retire(agent: SlugOf<Agents>, versionId: string, options: CallOptions = {}): Promise<Version> {
    return this.caller.send({ method: 'POST', path: `${versionPath(agent, versionId)}/retire` }, options)
  }

  unretire(agent: SlugOf<Agents>, versionId: string, options: CallOptions = {}): Promise<Version> {
    return this.caller.send({ method: 'POST', path: `${versionPath(agent, versionId)}/unretire` }, options)
  }

  /** Deletes a draft. */
  deleteVersion(agent: SlugOf<Agents>, versionId: string, options: CallOptions = {}): Promise<void> {
    return this.caller.send({ method: 'DELETE', path: versionPath(agent, versionId) }, options)
  }

  /** An archived agent accepts no runs, and lists leave it out. */
  archive(agent: SlugOf<Agents>, options: CallOptions = {}): Promise<Agent> {
    return this.caller.send({ method: 'POST', path: `${agentPath(agent)}/archive` }, options)
  }

  restore(agent: SlugOf<Agents>, options: CallOptions = {}): Promise<Agent> {
    return this.caller.send({ method: 'POST', path: `${agentPath(agent)}/restore` }, options)
  }

  /** The webhooks of the organization, newest first. */
  webhooks(options: CallOptions = {}): Promise<Webhook[]> {
    return this.caller.send({ path: '/v1/webhooks' }, options)
  }

  webhook(id: string, options: CallOptions = {}): Promise<Webhook> {
    return this.caller.send({ path: webhookPath(id) }, options)
  }

  /** Creates a webhook, and returns its secret, which is not shown again. The request is not repeated. */
  async createWebhook(webhook: WebhookBody, options: CallOptions = {}): Promise<CreatedWebhook> {
    const body = this.connection.stringify(webhook)
    return this.caller.send({ method: 'POST', path: '/v1/webhooks', body, once: true }, options)
  }

  async updateWebhook(id: string, changes: WebhookChanges, options: CallOptions = {}): Promise<Webhook> {
    const body = this.connection.stringify(changes)
    return this.caller.send({ method: 'PATCH', path: webhookPath(id), body }, options)
  }

  deleteWebhook(id: string, options: CallOptions = {}): Promise<void> {
    return this.caller.send({ method: 'DELETE', path: webhookPath(id) }, options)
  }

  /** Replaces the secret of a webhook, or of `default`; the previous one stays valid for a day. Not repeated. */
  rotateWebhook(id: string, options: CallOptions = {}): Promise<RotatedSecret> {
    return this.caller.send({ method: 'POST', path: `${webhookPath(id)}/rotate`, once: true }, options)
  }

  /** Sends a test event, and tells what the receiver answered. */
  testWebhook(id: string, options: CallOptions = {}): Promise<TestResult> {
    return this.caller.send({ method: 'POST', path: `${webhookPath(id)}/test` }, options)
  }

  /** Deliveries to a webhook, newest first. */
  deliveries(id: string, options: ListOptions = {}): AsyncGenerator<Delivery, void, undefined> {
    return this.caller.list(`${webhookPath(id)}/deliveries`, options)
  }

  /** Sends an event to a webhook again. */
  redeliver(id: string, deliveryId: string, options: CallOptions = {}): Promise<Delivery> {
    const path = `${webhookPath(id)}/deliveries/${encodeURIComponent(deliveryId)}/redeliver`
    return this.caller.send({ method: 'POST', path }, options)
  }

  /** What runs used and cost, by interval, oldest first, then by group. The last 24 hours by hour by default. */
  usage(options: UsageOptions = {}): AsyncGenerator<UsageRow, void, undefined> {
    return this.caller.list('/v1/usage', options)
  }

  /** The API tokens that the token of the client may see, newest first. */
  tokens(options: ListOptions = {}): AsyncGenerator<Token, void, undefined> {
    return this.caller.list('/v1/tokens', options)
  }

  /** Creates an API token, which may do no more than the one of the client, and shows it once. Not repeated. */
  async createToken(token: TokenBody, options: CallOptions = {}): Promise<CreatedToken> {
    const body = this.connection.stringify(token)
    return this.caller.send({ method: 'POST', path: '/v1/tokens', body, once: true }, options)
  }

  /** Revokes an API token, or lets it end after a time. */
  revokeToken(
    id: string,
    { afterSeconds, ...options }: CallOptions & { afterSeconds?: number | undefined } = {},
  ): Promise<Token> {
    const path = `/v1/tokens/${encodeURIComponent(id)}${toQuery({ afterSeconds })}`
    return this.caller.send({ method: 'DELETE', path }, options)
  }

  /** The organization and the limits of the token. */
  me(options: CallOptions = {}): Promise<Me> {
    return this.caller.send({ path: '/v1/me' }, options)
  }

  /** Like the function `parseWebhook`, which needs no client, with the `parse` of this one. */
  parseWebhook<O = Output>(
    body: string | Uint8Array,
    headers: WebhookHeaders,
    secret: string | readonly string[],
  ): Promise<WebhookEvent<O>> {
    return parseWebhook(body, headers, secret, this.connection.parse)
  }
}
