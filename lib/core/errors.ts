import type { Scope } from './access.ts'
import {
  LARGE_BODY_BYTES,
  MAX_UNREAD_SIGNALS,
  MAX_WEBHOOKS,
  OPEN_RETRY_AFTER_SECONDS,
  SIGNAL_RECOUNT_MS,
} from './limits.ts'
import { describeReached, ownerOf, type ReachedLimit } from './usage-limits.ts'

/**
 * One violation in a request. `path` is a JSON Pointer (RFC 6901) into the body, or the name of a parameter or header.
 * In a text that the body contains, `line` is counted from 1, and `field` is a dotted path.
 */
export type Violation = { path: string; message: string; line?: number; field?: string }

/** Every error that the service responds with, by its code. */
export const ERRORS = {
  BadRequest: { status: 400, title: 'Malformed HTTP request' },
  InvalidJson: { status: 400, title: 'Invalid JSON body' },
  InvalidQueryParameter: { status: 400, title: 'Invalid query parameter' },
  InvalidHeader: { status: 400, title: 'Invalid header' },
  InvalidModelOverride: { status: 400, title: 'Invalid model override' },
  Unauthorized: { status: 401, title: 'Missing or invalid API token' },
  Forbidden: { status: 403, title: 'Forbidden' },
  AgentNotFound: { status: 404, title: 'Agent not found' },
  VersionNotFound: { status: 404, title: 'Version not found' },
  ExecutionNotFound: { status: 404, title: 'Execution not found' },
  ApprovalNotFound: { status: 404, title: 'Approval not found' },
  WebhookNotFound: { status: 404, title: 'Webhook not found' },
  DeliveryNotFound: { status: 404, title: 'Delivery not found' },
  BatchNotFound: { status: 404, title: 'Batch not found' },
  TrialNotFound: { status: 404, title: 'Trial not found' },
  RolloutNotFound: { status: 404, title: 'Rollout not found' },
  ScheduleNotFound: { status: 404, title: 'Schedule not found' },
  TokenNotFound: { status: 404, title: 'Token not found' },
  LimitsNotFound: { status: 404, title: 'Limits not found' },
  RouteNotFound: { status: 404, title: 'Route not found' },
  MethodNotAllowed: { status: 405, title: 'Method not allowed' },
  ExecutionInProgress: { status: 409, title: 'Execution in progress' },
  ExecutionEnded: { status: 409, title: 'Execution ended' },
  BatchInProgress: { status: 409, title: 'Batch in progress' },
  TrialRequired: { status: 409, title: 'Trial required' },
  TrialFailed: { status: 409, title: 'Trial failed' },
  ApprovalDecided: { status: 409, title: 'Approval decided' },
  VersionPublished: { status: 409, title: 'Version published' },
  TooManyWebhooks: { status: 409, title: 'Too many webhooks' },
  TooManySchedules: { status: 409, title: 'Too many schedules' },
  VersionNotRetirable: { status: 409, title: 'Version cannot be retired' },
  AgentArchived: { status: 410, title: 'Agent archived' },
  VersionRetired: { status: 410, title: 'Version retired' },
  ExecutionDeleted: { status: 410, title: 'Execution deleted' },
  PayloadTooLarge: { status: 413, title: 'Payload too large' },
  UnsupportedMediaType: { status: 415, title: 'Unsupported media type' },
  InputSchemaMismatch: { status: 422, title: 'Input does not match the input schema' },
  FeedbackMismatch: { status: 422, title: 'Invalid feedback' },
  InvalidAgent: { status: 422, title: 'Invalid agent' },
  IdempotencyKeyReused: { status: 422, title: 'Idempotency key reused with a different request' },
  TooManyRequests: { status: 429, title: 'Too many requests' },
  LimitExceeded: { status: 429, title: 'Limit exceeded' },
  ExecutionFailed: { status: 500, title: 'Execution failed' },
  InternalError: { status: 500, title: 'Internal error' },
  Unavailable: { status: 503, title: 'Service temporarily unavailable' },
  ExecutionStillRunning: { status: 504, title: 'Execution still running' },
} as const satisfies Record<string, { status: number; title: string }>

export type ErrorCode = keyof typeof ERRORS

/**
 * What the header `WWW-Authenticate` says of a request (RFC 6750, section 3). Without a token in the request, a
 * challenge names no error.
 */
export type Challenge = {
  error?: 'invalid_token' | 'insufficient_scope'
  description?: string
  /** What the token needs. By default, what the operation needs. */
  scopes?: Scope[]
}

type Options = {
  cause?: unknown
  /** Instead of the status in `ERRORS`. */
  status?: number
  /** Extension members of the problem details, for example `executionId`. */
  members?: Record<string, unknown>
  errors?: Violation[]
  headers?: Record<string, string>
  challenge?: Challenge
}

/** An error that a caller can act on. The message is the `detail` of the problem details (RFC 9457). */
export class ServiceError extends Error {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly errors: Violation[] | undefined
  readonly members: Record<string, unknown>
  readonly headers: Record<string, string>
  readonly challenge: Challenge | undefined

  constructor(code: ErrorCode, detail: string, options: Options = {}) {
    super(detail, { cause: options.cause })
    this.name = code
    this.code = code
    this.status = options.status ?? ERRORS[code].status
    this.title = ERRORS[code].title
    this.errors = options.errors
    this.members = options.members ?? {}
    this.headers = options.headers ?? {}
    this.challenge = options.challenge
  }
}

// The annotations let bundles omit the classes that they do not use.

// @__NO_SIDE_EFFECTS__
const withFixedDetail = (code: ErrorCode, detail: string, options?: Options) =>
  class extends ServiceError {
    constructor() {
      super(code, detail, options)
    }
  }

// @__NO_SIDE_EFFECTS__
const ofExecution = (code: ErrorCode, detail: string) =>
  class extends ServiceError {
    constructor(executionId: string) {
      super(code, detail, { members: { executionId } })
    }
  }

// @__NO_SIDE_EFFECTS__
const withDetail = (code: ErrorCode) =>
  class extends ServiceError {
    constructor(detail: string) {
      super(code, detail)
    }
  }

// @__NO_SIDE_EFFECTS__
const withViolations = (code: ErrorCode) =>
  class extends ServiceError {
    constructor(errors: Violation[]) {
      super(code, errors.map(({ message }) => message).join(' '), { errors })
    }
  }

const INVALID_TOKEN: Challenge = {
  error: 'invalid_token',
  description: 'The token is missing, unknown, expired or revoked.',
}

export class Unauthorized extends ServiceError {
  /**
   * @param mistake a sentence about the header, which must not tell whether a token exists; by default, what can be
   * wrong with a token
   * @param issuer of the identity provider whose tokens the service accepts too
   */
  constructor({
    hasToken = true,
    mistake,
    issuer,
  }: { hasToken?: boolean; mistake?: string; issuer?: string | undefined } = {}) {
    const send = issuer
      ? `Send an API token, or an access token of ${issuer}, in the header "Authorization: Bearer <token>".`
      : 'Send a valid API token in the header "Authorization: Bearer <API token>".'
    const reason = issuer
      ? 'It must not be expired or revoked. API tokens begin with "aes_".'
      : 'It must begin with "aes_", and must not be expired or revoked.'
    super('Unauthorized', `${send} ${mistake ?? reason}`, { challenge: hasToken ? INVALID_TOKEN : {} })
  }
}

export class Forbidden extends withDetail('Forbidden') {}

export class InsufficientScope extends ServiceError {
  /** @param scopes what the token needs */
  constructor(detail: string, scopes: Scope[]) {
    super('Forbidden', detail, {
      challenge: { error: 'insufficient_scope', description: 'The token lacks a scope.', scopes },
    })
  }
}

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

export class VersionNotFound extends withFixedDetail(
  'VersionNotFound',
  'The agent has no such version. GET /v1/agents/{agentId}/versions lists its versions.',
) {}

/** A version that is or was current: executions refer to it, and a rollback may need it. */
export class VersionPublished extends withFixedDetail(
  'VersionPublished',
  'This version is published. Only drafts can be deleted.',
) {}

export class AgentArchived extends withFixedDetail(
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

export class VersionNotRetirable extends withDetail('VersionNotRetirable') {}

export class ExecutionNotFound extends withFixedDetail(
  'ExecutionNotFound',
  'Your organization has no execution with this ID. GET /v1/agent_executions lists its executions.',
) {}

export class ExecutionInProgress extends ofExecution(
  'ExecutionInProgress',
  'Wait until the execution has finished, or cancel it first.',
) {}

/** The execution of an idempotency key was deleted: the same request starts no second one. */
export class ExecutionDeleted extends ofExecution(
  'ExecutionDeleted',
  'The execution of this Idempotency-Key was deleted. Another key runs the agent again.',
) {}

/** The execution has no approval with this ID. It does not tell whether there was one. */
export class ApprovalNotFound extends withFixedDetail(
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

export class ExecutionEnded extends ofExecution(
  'ExecutionEnded',
  'The execution has ended: it waits for nothing any more.',
) {}

export class WebhookNotFound extends withFixedDetail(
  'WebhookNotFound',
  'Your organization has no webhook with this ID. GET /v1/webhooks lists its webhooks.',
) {}

export class TooManyWebhooks extends withFixedDetail(
  'TooManyWebhooks',
  `Your organization has as many webhooks as it may have: ${MAX_WEBHOOKS}. Delete one first.`,
) {}

export class DeliveryNotFound extends withFixedDetail(
  'DeliveryNotFound',
  'The webhook has no delivery with this ID. GET /v1/webhooks/{webhookId}/deliveries lists its deliveries.',
) {}

export class BatchNotFound extends withFixedDetail(
  'BatchNotFound',
  'Your organization has no batch with this ID. GET /v1/batches lists its batches.',
) {}

export class TrialNotFound extends withFixedDetail(
  'TrialNotFound',
  'Your organization has no trial with this ID. GET /v1/trials lists its trials.',
) {}

/** The current version says that another one needs a trial. */
export class TrialRequired extends withFixedDetail(
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

export class RolloutNotFound extends withFixedDetail(
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

export class ScheduleNotFound extends withFixedDetail(
  'ScheduleNotFound',
  'The agent has no schedule with this name. GET /v1/agents/{agentId}/schedules lists its schedules.',
) {}

export class TooManySchedules extends ServiceError {
  constructor(max: number) {
    super('TooManySchedules', `The agent has as many schedules as it may have: ${max}. Delete one first.`)
  }
}

/** Also for a token that may do more than the caller: its response equals that for a missing one. */
export class TokenNotFound extends withFixedDetail(
  'TokenNotFound',
  'Your organization has no token with this ID that yours may see. GET /v1/tokens lists those that it may.',
) {}

export class LimitsNotFound extends withFixedDetail(
  'LimitsNotFound',
  'This tenant or agent has no limits. GET /v1/limits lists those that have some.',
) {}

export class RouteNotFound extends ServiceError {
  /** @param meant a path that exists, if it is known */
  constructor(meant?: string) {
    const hint = meant ? `Did you mean ${meant}?` : 'The paths of the API begin with /v1.'
    super('RouteNotFound', `No route has this path. ${hint} GET /v1/openapi.json describes all routes.`)
  }
}

export class MethodNotAllowed extends ServiceError {
  constructor(methods: string[]) {
    const allow = methods.join(', ')
    super('MethodNotAllowed', `This path supports only: ${allow}.`, { headers: { Allow: allow } })
  }
}

export class PayloadTooLarge extends withDetail('PayloadTooLarge') {}

export class UnsupportedMediaType extends ServiceError {
  /** @param detail of an operation that accepts others than JSON */
  constructor(detail = 'Send uncompressed JSON in UTF-8 with the header "Content-Type: application/json".') {
    super('UnsupportedMediaType', detail)
  }
}

export class InvalidJson extends withDetail('InvalidJson') {}

export class InvalidQueryParameter extends withViolations('InvalidQueryParameter') {}

/** The cursor is not one that the list returned. */
export class InvalidCursor extends InvalidQueryParameter {
  constructor() {
    const message = 'cursor must be taken, unchanged, from the "next" link of the previous page.'
    super([{ path: 'cursor', message }])
  }
}

export class InvalidHeader extends withViolations('InvalidHeader') {}

export class InvalidModelOverride extends ServiceError {
  constructor(detail: string) {
    super('InvalidModelOverride', detail, { errors: [{ path: 'model', message: detail }] })
  }
}

export class InputSchemaMismatch extends withViolations('InputSchemaMismatch') {}

/** Limits the size of the response: a body may contain any number of unknown fields. */
const MAX_FEEDBACK_VIOLATIONS = 10

export class FeedbackMismatch extends withViolations('FeedbackMismatch') {
  constructor(violations: Violation[]) {
    super(violations.slice(0, MAX_FEEDBACK_VIOLATIONS))
  }
}

/** The document, the code or another member of a publish request is invalid. */
export class InvalidAgent extends withViolations('InvalidAgent') {}

export class IdempotencyKeyReused extends withFixedDetail(
  'IdempotencyKeyReused',
  'This Idempotency-Key was used with a different body or different parameters within the last 24 hours. Use a new key.',
) {}

export class TooManyRequests extends ServiceError {
  constructor(maxOpenExecutions: number) {
    super(
      'TooManyRequests',
      `Your organization has reached its limit of ${maxOpenExecutions} executions in progress. Retry when some have finished.`,
      { headers: { 'Retry-After': '5' } },
    )
  }
}

/** A limit of the run's tenant or agent permits no further run for now. */
export class LimitExceeded extends ServiceError {
  readonly reached: ReachedLimit
  readonly retryAfterSeconds: number

  constructor(reached: ReachedLimit, retryAfterSeconds: number) {
    const { subject, limit, max } = reached
    super('LimitExceeded', `${describeReached(reached)} Retry in ${retryAfterSeconds} s.`, {
      members: { ...ownerOf(subject), limit, max },
      headers: { 'Retry-After': String(retryAfterSeconds) },
    })
    this.reached = reached
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Signals that no wait has taken. The count is repeated after a while. */
export class TooManyUnreadSignals extends ServiceError {
  constructor() {
    const { count, bytes } = MAX_UNREAD_SIGNALS
    super(
      'TooManyRequests',
      `The execution has as many unread signals as it may have: ${count}, or ${bytes / 1_000_000} MB of data. Retry when it has taken some.`,
      { headers: { 'Retry-After': String(SIGNAL_RECOUNT_MS / 1000) } },
    )
  }
}

/** The token has used up its requests of this second. */
export class RateLimitExceeded extends ServiceError {
  constructor(rate: number) {
    super('TooManyRequests', `This token is limited to ${rate} requests per second. Retry in a second.`, {
      headers: { 'Retry-After': '1' },
    })
  }
}

/** The token or its organization has as many requests open as it may. */
export class TooManyOpenRequests extends ServiceError {
  constructor(detail: string) {
    super('TooManyRequests', `${detail} Close one, or retry when one has ended.`, {
      headers: { 'Retry-After': String(OPEN_RETRY_AFTER_SECONDS) },
    })
  }
}

/** The organization has sent too much in large bodies within this minute. */
export class LargeBodyLimitExceeded extends ServiceError {
  constructor({ maxMegabytes, retryAfterSeconds }: { maxMegabytes: number; retryAfterSeconds: number }) {
    super(
      'TooManyRequests',
      `Your organization is limited to ${maxMegabytes} MB per minute in request bodies of more than ${LARGE_BODY_BYTES / 1000} kB. Retry in ${retryAfterSeconds} s.`,
      { headers: { 'Retry-After': String(retryAfterSeconds) } },
    )
  }
}

/** A dependency did not respond or throttled the request. A retry may succeed. */
export class Unavailable extends ServiceError {
  constructor(cause: unknown) {
    super('Unavailable', 'A service that this request depends on did not respond. Retry in a moment.', {
      cause,
      headers: { 'Retry-After': '1' },
    })
  }
}

/** Stops a run from within: tools and agents that it passes through have not failed. */
export abstract class Interruption extends Error {}

/** The database rejects a write for good, for example because an item is too large. A retry fails too. */
export class WriteRejected extends Error {
  constructor(cause: Error) {
    super(`The database rejected the data: ${cause.message}`, { cause })
  }
}
