import type { Scope } from './access.ts'
import {
  type Challenge,
  ServiceError,
  type Violation,
  withDetail,
  withFixedDetail,
  withViolations,
} from './errors.ts'

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

export class Forbidden extends /* @__PURE__ */ withDetail('Forbidden') {}

export class InsufficientScope extends ServiceError {
  /** @param scopes what the token needs */
  constructor(detail: string, scopes: Scope[]) {
    super('Forbidden', detail, {
      challenge: { error: 'insufficient_scope', description: 'The token lacks a scope.', scopes },
    })
  }
}

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

export class PayloadTooLarge extends /* @__PURE__ */ withDetail('PayloadTooLarge') {}

export class UnsupportedMediaType extends ServiceError {
  /** @param detail of an operation that accepts others than JSON */
  constructor(detail = 'Send uncompressed JSON in UTF-8 with the header "Content-Type: application/json".') {
    super('UnsupportedMediaType', detail)
  }
}

export class InvalidJson extends /* @__PURE__ */ withDetail('InvalidJson') {}

export class InvalidQueryParameter extends /* @__PURE__ */ withViolations('InvalidQueryParameter') {}

/** The cursor is not one that the list returned. */
export class InvalidCursor extends InvalidQueryParameter {
  constructor() {
    const message = 'cursor must be taken, unchanged, from the "next" link of the previous page.'
    super([{ path: 'cursor', message }])
  }
}

export class InvalidHeader extends /* @__PURE__ */ withViolations('InvalidHeader') {}

export class InvalidModelOverride extends ServiceError {
  constructor(detail: string) {
    super('InvalidModelOverride', detail, { errors: [{ path: 'model', message: detail }] })
  }
}

export class InputSchemaMismatch extends /* @__PURE__ */ withViolations('InputSchemaMismatch') {}

/** Limits the size of the response: a body may contain any number of unknown fields. */
const MAX_FEEDBACK_VIOLATIONS = 10

export class FeedbackMismatch extends /* @__PURE__ */ withViolations('FeedbackMismatch') {
  constructor(violations: Violation[]) {
    super(violations.slice(0, MAX_FEEDBACK_VIOLATIONS))
  }
}

/** The document, the code or another member of a publish request is invalid. */
export class InvalidAgent extends /* @__PURE__ */ withViolations('InvalidAgent') {}

export class IdempotencyKeyReused extends /* @__PURE__ */ withFixedDetail(
  'IdempotencyKeyReused',
  'This Idempotency-Key was used with a different body or different parameters within the last 24 hours. Use a new key.',
) {}
