import type { Scope } from './access.ts'

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

// Calls of these functions are marked as pure: bundles omit the classes that they do not use.

export const withFixedDetail = (code: ErrorCode, detail: string, options?: Options) =>
  class extends ServiceError {
    constructor() {
      super(code, detail, options)
    }
  }

export const ofExecution = (code: ErrorCode, detail: string) =>
  class extends ServiceError {
    constructor(executionId: string) {
      super(code, detail, { members: { executionId } })
    }
  }

export const withDetail = (code: ErrorCode) =>
  class extends ServiceError {
    constructor(detail: string) {
      super(code, detail)
    }
  }

export const withViolations = (code: ErrorCode) =>
  class extends ServiceError {
    constructor(errors: Violation[]) {
      super(code, errors.map(({ message }) => message).join(' '), { errors })
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
