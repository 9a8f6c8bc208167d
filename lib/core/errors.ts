/** One thing wrong at one place of a request: `path` is a JSON Pointer (RFC 6901) into the body or a parameter's name. */
export type Violation = { path: string; message: string }

type Options = {
  cause?: unknown
  /** Extra members of the problem document, for example `executionId`. */
  members?: Record<string, unknown>
  errors?: Violation[]
  headers?: Record<string, string>
}

/** An error that a caller can act on. `status`, `code` and `title` are what its problem document says (RFC 9457). */
export class ServiceError extends Error {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly errors: Violation[] | undefined
  readonly members: Record<string, unknown>
  readonly headers: Record<string, string>

  constructor(code: ProblemCode, detail: string, options: Options = {}) {
    super(detail, { cause: options.cause })
    this.name = code
    this.code = code
    this.status = PROBLEMS[code].status
    this.title = PROBLEMS[code].title
    this.errors = options.errors
    this.members = options.members ?? {}
    this.headers = options.headers ?? {}
  }
}

/** Every problem that the service answers with. */
export const PROBLEMS = {
  BadRequest: { status: 400, title: 'The request is not well-formed HTTP' },
  InvalidJson: { status: 400, title: 'The body is not a JSON object' },
  InvalidQueryParameter: { status: 400, title: 'A query parameter has a value that is not allowed' },
  InvalidHeader: { status: 400, title: 'A header has a value that is not allowed' },
  InvalidModelOverride: { status: 400, title: 'The model override cannot be used' },
  Unauthorized: { status: 401, title: 'A valid API token is required' },
  Forbidden: { status: 403, title: 'The request is not allowed' },
  AgentNotFound: { status: 404, title: 'There is no such agent' },
  VersionNotFound: { status: 404, title: 'There is no such version of the agent' },
  ExecutionNotFound: { status: 404, title: 'There is no such execution' },
  RouteNotFound: { status: 404, title: 'There is no such route' },
  ExecutionInProgress: { status: 409, title: 'The execution is still in progress' },
  PayloadTooLarge: { status: 413, title: 'The request is too large' },
  UnsupportedMediaType: { status: 415, title: 'The body must be JSON' },
  InputSchemaMismatch: { status: 422, title: 'The input does not match the input schema' },
  FeedbackMismatch: { status: 422, title: 'The feedback is not as it has to be' },
  IdempotencyKeyReused: { status: 422, title: 'The idempotency key was used with another body' },
  TooManyRequests: { status: 429, title: 'Too many requests' },
  ExecutionFailed: { status: 500, title: 'The execution failed' },
  InternalError: { status: 500, title: 'Something went wrong in the service' },
  Unavailable: { status: 503, title: 'The service is unavailable for the moment' },
  ExecutionStillRunning: { status: 504, title: 'The execution is still running' },
} as const satisfies Record<string, { status: number; title: string }>

export type ProblemCode = keyof typeof PROBLEMS

export class Unauthorized extends ServiceError {
  constructor() {
    super('Unauthorized', 'Send the header "Authorization: Bearer <API token>" with a token that is valid.', {
      headers: { 'WWW-Authenticate': 'Bearer' },
    })
  }
}

/** Its detail does not repeat the id: another organization's agent and none at all must answer with the same bytes. */
export class AgentNotFound extends ServiceError {
  constructor() {
    super('AgentNotFound', 'No agent of your organization has this id or slug. GET /v1/agents lists them.')
  }
}

export class VersionNotFound extends ServiceError {
  constructor() {
    super(
      'VersionNotFound',
      'The agent has no version with this id. GET /v1/agents/{id}/versions lists its versions.',
    )
  }
}

export class ExecutionNotFound extends ServiceError {
  constructor() {
    super(
      'ExecutionNotFound',
      'No execution of your organization has this id. GET /v1/agent_executions lists them.',
    )
  }
}

export class ExecutionInProgress extends ServiceError {
  constructor(executionId: string) {
    super('ExecutionInProgress', 'Wait until it has ended, or cancel it first.', { members: { executionId } })
  }
}

export class RouteNotFound extends ServiceError {
  constructor() {
    super('RouteNotFound', 'No route has this method and path. See openapi.json for those there are.')
  }
}

export class PayloadTooLarge extends ServiceError {
  constructor(detail: string) {
    super('PayloadTooLarge', detail)
  }
}

export class UnsupportedMediaType extends ServiceError {
  constructor() {
    super(
      'UnsupportedMediaType',
      'Send the body as JSON in UTF-8, uncompressed, with the header "Content-Type: application/json".',
    )
  }
}

export class InvalidJson extends ServiceError {
  constructor(detail: string) {
    super('InvalidJson', detail)
  }
}

export class InvalidQueryParameter extends ServiceError {
  constructor(errors: Violation[]) {
    super('InvalidQueryParameter', errors.map((error) => error.message).join(' '), { errors })
  }
}

export class InvalidHeader extends ServiceError {
  constructor(errors: Violation[]) {
    super('InvalidHeader', errors.map((error) => error.message).join(' '), { errors })
  }
}

export class IdempotencyKeyReused extends ServiceError {
  constructor() {
    super(
      'IdempotencyKeyReused',
      'This Idempotency-Key came with another body or other parameters within the last 24 hours. Use a new key.',
    )
  }
}

/** `most` is the organization's cap on open executions. */
export class TooManyRequests extends ServiceError {
  constructor(max: number) {
    super(
      'TooManyRequests',
      `Your organization has ${max} executions in progress, as many as it may. Send this one again when some have ended.`,
      { headers: { 'Retry-After': '5' } },
    )
  }
}

export class InvalidModelOverride extends ServiceError {
  constructor(detail: string) {
    super('InvalidModelOverride', detail, { errors: [{ path: 'model', message: detail }] })
  }
}

export class InputSchemaMismatch extends ServiceError {
  constructor(errors: Violation[]) {
    super('InputSchemaMismatch', errors.map((error) => error.message).join(' '), { errors })
  }
}

/** The first few: a body may hold any number of fields that are not known. */
const MAX_VIOLATIONS = 10

export class FeedbackMismatch extends ServiceError {
  constructor(violations: Violation[]) {
    const errors = violations.slice(0, MAX_VIOLATIONS)
    super('FeedbackMismatch', errors.map((error) => error.message).join(' '), { errors })
  }
}

/** A dependency did not answer or throttled; the same request may succeed in a moment. */
export class Unavailable extends ServiceError {
  constructor(cause: unknown) {
    super('Unavailable', 'A part that the service depends on did not answer. Try again in a moment.', {
      cause,
      headers: { 'Retry-After': '1' },
    })
  }
}
