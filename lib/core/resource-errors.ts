import { ofExecution, ServiceError, withDetail, withFixedDetail } from './errors.ts'

/** The detail omits the ID: the response for another organization's agent must equal the one for a missing agent. */
export class AgentNotFound extends ServiceError {
  /** @param similar the slug of another agent that the caller may list */
  constructor(similar?: string) {
    const hint = similar === undefined ? '.' : `; did you mean ${similar}?`
    super(
      'AgentNotFound',
      `Your organization has no agent with this ID or slug${hint} GET /v1/agents lists its agents.`,
    )
  }
}

export class VersionNotFound extends /* @__PURE__ */ withFixedDetail(
  'VersionNotFound',
  'The agent has no such version. GET /v1/agents/{agentId}/versions lists its versions.',
) {}

/** A version that is or was current: executions refer to it, and a rollback may need it. */
export class VersionPublished extends /* @__PURE__ */ withFixedDetail(
  'VersionPublished',
  'This version is published. Only drafts can be deleted.',
) {}

export class AgentArchived extends /* @__PURE__ */ withFixedDetail(
  'AgentArchived',
  'This agent is archived: it accepts no runs and no versions. POST /v1/agents/{agentId}/restore restores it.',
) {}

/** 410 for a run, as for an archived agent; 409 for a promotion, which is possible once the version is unretired. */
export class VersionRetired extends ServiceError {
  constructor(refused: 'run' | 'promotion') {
    super(
      'VersionRetired',
      'This version is retired: it accepts no runs and cannot become current. POST /v1/agents/{agentId}/versions/{versionId}/unretire makes it usable again.',
      { ...(refused === 'promotion' && { status: 409 }) },
    )
  }
}

export class VersionNotRetirable extends /* @__PURE__ */ withDetail('VersionNotRetirable') {}

export class ExecutionNotFound extends /* @__PURE__ */ withFixedDetail(
  'ExecutionNotFound',
  'Your organization has no execution with this ID. GET /v1/agent_executions lists its executions.',
) {}

export class ExecutionInProgress extends /* @__PURE__ */ ofExecution(
  'ExecutionInProgress',
  'Wait until the execution has finished, or cancel it first.',
) {}

/** The execution of an idempotency key was deleted: the same request starts no second one. */
export class ExecutionDeleted extends /* @__PURE__ */ ofExecution(
  'ExecutionDeleted',
  'The execution of this Idempotency-Key was deleted. Another key runs the agent again.',
) {}

/** The execution has no approval with this ID. It does not tell whether there was one. */
export class ApprovalNotFound extends /* @__PURE__ */ withFixedDetail(
  'ApprovalNotFound',
  'The execution has no approval with this ID. GET /v1/approvals lists those that wait for a decision.',
) {}

export class ApprovalDecided extends ServiceError {
  constructor(decision: string) {
    const detail =
      decision === 'timeout'
        ? 'Nobody decided on this approval in time.'
        : `Another decision on this approval is stored: ${decision}.`
    super('ApprovalDecided', detail, { members: { decision } })
  }
}

export class ExecutionEnded extends /* @__PURE__ */ ofExecution(
  'ExecutionEnded',
  'The execution has ended: it waits for nothing any more.',
) {}

export class WebhookNotFound extends /* @__PURE__ */ withFixedDetail(
  'WebhookNotFound',
  'Your organization has no webhook with this ID. GET /v1/webhooks lists its webhooks.',
) {}

export class DeliveryNotFound extends /* @__PURE__ */ withFixedDetail(
  'DeliveryNotFound',
  'The webhook has no delivery with this ID. GET /v1/webhooks/{webhookId}/deliveries lists its deliveries.',
) {}

export class BatchNotFound extends /* @__PURE__ */ withFixedDetail(
  'BatchNotFound',
  'Your organization has no batch with this ID. GET /v1/batches lists its batches.',
) {}

export class TrialNotFound extends /* @__PURE__ */ withFixedDetail(
  'TrialNotFound',
  'Your organization has no trial with this ID. GET /v1/trials lists its trials.',
) {}

/** The current version says that another one needs a trial. */
export class TrialRequired extends /* @__PURE__ */ withFixedDetail(
  'TrialRequired',
  'The current version requires a trial (execution.promotion.require). Publish a draft, try it with POST /v1/agents/{agentId}/versions/{versionId}/trials, and promote it with ?trial={trialId}.',
) {}

/** `members`: the figures of the trial. */
export class TrialFailed extends ServiceError {
  /** @param reasons a sentence for each limit that the trial does not meet */
  constructor(reasons: string[], members: Record<string, unknown>) {
    super('TrialFailed', reasons.join(' '), { members })
  }
}

export class RolloutNotFound extends /* @__PURE__ */ withFixedDetail(
  'RolloutNotFound',
  'The agent has no rollout in progress. PUT /v1/agents/{agentId}/rollout starts one.',
) {}

export class BatchInProgress extends ServiceError {
  constructor(id: string, kind: 'batch' | 'trial' = 'batch') {
    super('BatchInProgress', `Wait until the ${kind} has ended, or cancel it first.`, {
      members: { [`${kind}Id`]: id },
    })
  }
}

export class ScheduleNotFound extends /* @__PURE__ */ withFixedDetail(
  'ScheduleNotFound',
  'The agent has no schedule with this name. GET /v1/agents/{agentId}/schedules lists its schedules.',
) {}

/** Also for a token that may do more than the caller: its response equals that for a missing one. */
export class TokenNotFound extends /* @__PURE__ */ withFixedDetail(
  'TokenNotFound',
  'Your organization has no token with this ID that yours may see. GET /v1/tokens lists those that it may.',
) {}

export class LimitsNotFound extends /* @__PURE__ */ withFixedDetail(
  'LimitsNotFound',
  'This tenant or agent has no limits. GET /v1/limits lists those that have some.',
) {}
