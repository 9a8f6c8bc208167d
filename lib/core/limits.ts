/** Bytes of a request body or an output: Lambda's 6 MB of synchronous payload less room for headers and context. */
export const MAX_PAYLOAD_BYTES = 6_000_000

export const MAX_AGENT_STEPS = { least: 1, most: 500, default: 100 } as const

export const PAGE_SIZE = { least: 1, most: 100, default: 50 } as const

/** Payload of one page's records: what a response can carry, with room for what JSON adds. */
export const MAX_PAGE_BYTES = 4_000_000

/** How long a worker owns an execution without a heartbeat, and how often it renews. */
export const LEASE_MS = 60_000
export const HEARTBEAT_MS = 10_000

/** How long a queued execution may wait for its first claim before the sweeper enqueues it again. */
export const ENQUEUED_GRACE_MS = 60_000

/** How long an execution may stay open before the sweeper ends it. */
export const DEADLINE_MS = 24 * 60 * 60 * 1000

/** A run that has taken its worker down this often is ended instead of being tried again. */
export const MAX_ATTEMPTS = 5

/** Seconds that an async client is asked to wait before it polls. */
export const RETRY_AFTER_SECONDS = 1
