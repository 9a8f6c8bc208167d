/** Bytes of a request body or an output: Lambda's 6 MB of synchronous payload less room for headers and context. */
export const MAX_PAYLOAD_BYTES = 6_000_000

export const MAX_AGENT_STEPS = { min: 1, max: 500, default: 100 } as const

export const PAGE_SIZE = { min: 1, max: 100, default: 50 } as const

/** Payload of one page's records: what a response can carry, with room for what JSON adds. */
export const MAX_PAGE_BYTES = 4_000_000

/** How long a worker owns an execution without a heartbeat. */
export const LEASE_MS = 60_000

/** How long an execution may stay open before the sweeper ends it. */
export const DEADLINE_MS = 24 * 60 * 60 * 1000

/** Attempts of a run without a step forward: the next one ends it. Also the deliveries of one message. */
export const MAX_ATTEMPTS = 5

/**
 * How long a sync caller waits for the output. API Gateway closes a stream that has been silent for 300 s, and a
 * buffered response after 29 s.
 */
export const SYNC_DEADLINE_MS = { streamed: 270_000, buffered: 25_000 } as const

/** The longest that `Prefer: wait` is honoured for, in seconds. */
export const MAX_WAIT_SECONDS = 25

/** How long an idempotency key leads to its execution. */
export const IDEMPOTENCY_MS = 24 * 60 * 60 * 1000

/** Open executions that an organization may have unless the operator says otherwise. */
export const MAX_OPEN_EXECUTIONS = 1_000

/** Seconds that an async client is asked to wait before it polls. */
export const RETRY_AFTER_SECONDS = 1
