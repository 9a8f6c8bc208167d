import { ServiceError, withFixedDetail } from './errors.ts'
import {
  LARGE_BODY_BYTES,
  MAX_UNREAD_SIGNALS,
  MAX_WEBHOOKS,
  OPEN_RETRY_AFTER_SECONDS,
  SIGNAL_RECOUNT_MS,
} from './limits.ts'
import { describeReached, ownerOf, type ReachedLimit } from './usage-limits.ts'

export class TooManyWebhooks extends /* @__PURE__ */ withFixedDetail(
  'TooManyWebhooks',
  `Your organization has as many webhooks as it may have: ${MAX_WEBHOOKS}. Delete one first.`,
) {}

export class TooManySchedules extends ServiceError {
  constructor(max: number) {
    super('TooManySchedules', `The agent has as many schedules as it may have: ${max}. Delete one first.`)
  }
}

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
