export const DAY_MS = 86_400_000

/** Days of scores that are read by default. */
export const SCORES_DAYS = 30

/** Reviewed runs that a scorer is compared with people on: the newest ones. */
export const MAX_AGREEMENT_RUNS = 1_000

/** Bytes of a request body or an output: Lambda's 6 MB synchronous payload limit minus headers and context. */
export const MAX_PAYLOAD_BYTES = 6_000_000

export const MAX_AGENT_STEPS = { min: 1, max: 500, default: 100 } as const

/** Tool calls of one response that are in progress at the same time; the others wait. */
export const MAX_PARALLEL_TOOL_CALLS = { min: 1, max: 100, default: 20 } as const

/** The context window of a model, in tokens. */
export const CONTEXT_WINDOW = { min: 1_000, max: 100_000_000 } as const

/** Of the latest tool results of a run, how many stay when the context window fills. */
export const KEPT_RESULTS = { min: 0, max: 100, default: 3 } as const

/** Tool calls of one response that are executed. */
export const MAX_CALLS_IN_RESPONSE = 100

/** Bytes of the JSON of a tool result, without its images. */
export const MAX_RESULT_BYTES = { min: 1_000, max: 256_000, default: 32_000 } as const

/** Executions that the tool calls of one run start. */
export const MAX_CHILDREN = { min: 1, max: 500, default: 32 } as const

/** `context.step` calls of a code agent's run, in all attempts. */
export const MAX_CODE_STEPS = 10_000

/** Retries of a `context.step`, and what may pass between two attempts and in one, in seconds. */
export const STEP_RETRIES = { min: 0, max: 10, default: 0 } as const
export const STEP_BACKOFF_SECONDS = { min: 0, max: 300, default: 1 } as const
export const MAX_STEP_TIMEOUT_SECONDS = 86_400

/** From this backoff on, in seconds, a run is suspended. Below, it would cost more than its worker does. */
export const SUSPENDING_BACKOFF_SECONDS = 10

/** The budget of a run: input and output tokens, and US dollars. */
export const MAX_TOKENS = { min: 1, max: 1_000_000_000 } as const
export const MAX_COST_USD = { min: 0.000_001, max: 1_000_000 } as const

/** Bytes of JSON of a value that a record contains on request only. */
export const VALUE_BYTES = { min: 1_000, max: 10_000_000 } as const

export const PAGE_SIZE = { min: 1, max: 100, default: 50 } as const

/** Executions that one request looks at whose filters no index has. */
export const MAX_SEARCHED = 2_000

/** Keys of an agent by which executions are found, and the characters of a value that they have. */
export const MAX_KEYS = 5
export const MAX_KEY_CHARACTERS = 128

/** Results of a batch on one page. */
export const RESULT_PAGE_SIZE = { min: 1, max: 1_000, default: 1_000 } as const

/** Rows of usage on one page. */
export const USAGE_PAGE_SIZE = { min: 1, max: 1_000, default: 1_000 } as const

/** Totals that a request adds up: the page then ends with their interval. About 3 s of a processor. */
export const MAX_USAGE_ROWS = 500_000

/** Retired versions of an agent, whose item lists them: 70 kB of the 400 kB that an item can have. */
export const MAX_RETIRED_VERSIONS = 1_000

/** Violations that one error lists. */
export const MAX_VIOLATIONS = 100

/** Payload bytes of one page: what a response can carry, with room for JSON overhead. */
export const MAX_PAGE_BYTES = 4_000_000

/** Deadline of an execution, after which the sweeper ends it. */
export const DEADLINE_MS = DAY_MS

/** Attempts without progress before a run ends in ERROR; also the queue's maxReceiveCount. */
export const MAX_ATTEMPTS = 5

/**
 * How long a synchronous caller waits for the output. API Gateway closes a stream after 300 s of silence and a
 * buffered response after 29 s.
 */
export const SYNC_DEADLINE_MS = { streamed: 270_000, buffered: 25_000 } as const

/** The same for a call of an MCP tool: many MCP clients time out after 60 s. */
export const MCP_DEADLINE_MS = { streamed: 45_000, buffered: 20_000 } as const

/**
 * How long a stream of events lasts at most: less than the 15 minutes of a function and of a streamed response, and of
 * the 29 s of a buffered one. `shared`: where all functions share a small quota of the account.
 */
export const EVENT_STREAM_MS = { streamed: 14 * 60_000, buffered: 20_000, shared: 60_000 } as const

/** Below this quota of concurrent executions, functions share it: Lambda keeps 100 that cannot be reserved. */
export const SMALL_QUOTA = 100

/** Share of a function's concurrency, or of a small quota, that the open requests of one organization may occupy. */
export const ORGANIZATION_SHARE = 1 / 2

/** A comment follows this much silence, so that nobody takes the connection for dead. */
export const EVENT_IDLE_MS = 15_000

/** Maximum of `Prefer: wait`, in seconds. */
export const MAX_WAIT_SECONDS = 25

/** How long an idempotency key is bound to its execution. */
export const IDEMPOTENCY_MS = DAY_MS

/** The longest delay of a message: 15 minutes. */
export const MAX_QUEUE_DELAY_MS = 900_000

/** Messages that SQS accepts in one request. */
export const MAX_QUEUE_BATCH = 10

/** How long the waits of a run may last together, in days. */
export const MAX_WAIT_DAYS = { min: 1, max: 365, default: 30 } as const

/** Waits of a run that last at the same time. */
export const MAX_OPEN_WAITS = 100

/** Characters of the name of a wait. */
export const MAX_WAIT_NAME = 128

/** Bytes of the JSON of a signal's data, and what an execution keeps of signals that no wait has taken. */
export const MAX_SIGNAL_BYTES = 256_000
export const MAX_UNREAD_SIGNALS = { count: 1_000, bytes: 10_000_000 } as const

/** Bytes of data on a page of signals or results: if its response is buffered, it escapes the JSON once more. */
export const MAX_ESCAPED_PAGE_BYTES = 2_500_000

/** Interval of the counts of signals of an execution that seems to have as many as it may. */
export const SIGNAL_RECOUNT_MS = 5_000

/** Bytes of `waitingFor` in a record. */
export const MAX_WAITING_FOR_BYTES = 1_000

/** Bytes of the JSON of an input that an approver has edited. */
export const MAX_EDITED_INPUT_BYTES = 256_000

/** How long an approval of a tool call waits, in seconds. */
export const APPROVAL_TIMEOUT_SECONDS = { min: 1, max: 365 * 86_400, default: 7 * 86_400 } as const

/** Limits of a tenant or an agent. Runs of a minute: one item counts them, at 1,000 writes per second at most. */
export const TENANT_OPEN_EXECUTIONS = { min: 1, max: 10_000 } as const
export const RUNS_PER_MINUTE = { min: 1, max: 60_000 } as const

/** Bodies of requests above this size, in bytes, count towards the limit of their organization. */
export const LARGE_BODY_BYTES = 256_000

/**
 * `Retry-After` of an execution in progress, in seconds: a share of its age, but at least `minSeconds` once it is as
 * old as that (docs/decisions/0037-events.md).
 */
export const RETRY_AFTER = { ageShare: 1 / 4, minSeconds: 3, maxSeconds: 60 } as const

/** The least where the caller may have no more open requests: 5,000 callers are then 500 requests a second. */
export const OPEN_RETRY_AFTER_SECONDS = 10

/** Webhooks of an organization. */
export const MAX_WEBHOOKS = 20

/** Characters of the URL of a webhook, and entries of the lists that select its events. */
export const MAX_WEBHOOK_URL = 2_048
export const MAX_WEBHOOK_SELECTED = 50

/** Characters of the texts that select executions, and entries of the audit log. */
export const MAX_FILTER = {
  errorCode: 100,
  errorText: 200,
  model: 300,
  key: 600,
  actor: 600,
  target: 200,
} as const

/** How long the previous secret of a webhook stays valid. */
export const SECRET_OVERLAP_MS = DAY_MS

export const ROLLOUT_PERCENT = { min: 1, max: 100 } as const

/** Runs of a version before its rollout is judged. */
export const ROLLOUT_MIN_RUNS = { min: 1, max: 1_000_000, default: 20 } as const

/** How much more a run may cost at most before a rollout is aborted, as a fraction. */
export const MAX_COST_INCREASE = 1_000

/** Executions are kept at least this long where there are destinations: deliveries are retried for three days. */
export const MIN_RETENTION_DAYS = 5

/** How long entries of the audit log are kept, in days. Their events are delivered for three. */
export const AUDIT_RETENTION_DAYS = { min: MIN_RETENTION_DAYS, max: 3_650, default: 400 } as const

/** A change without a result after this time gets none: requests end after 30 s, and commands publish for a minute. */
export const LONGEST_CHANGE_MS = 120_000
