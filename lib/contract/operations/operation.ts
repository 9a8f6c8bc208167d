import type { Scope } from '../../core/access.ts'
import type { AuditAction } from '../../core/audit.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { parameterSchemas } from '../parameters/parameters.ts'
import type { RecordName, ResponseBody } from '../records/records.ts'

/** An endpoint. Every function loads the rows of all, so they refer to schemas by name. */
export type Operation = {
  /**
   * The function that serves the operation together with others: a stack can hold 500 resources. By default, an
   * operation has a function of its own, with its name. Families have no routes under the legacy name.
   */
  family?: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  summary: string
  /** Without a schema, every query parameter is rejected. */
  query?: ParametersName
  /** Query parameters are ignored: load balancers add some to health checks, and links to pages carry some. */
  ignoresQuery?: true
  /** Headers beyond those of every request. */
  headers?: ParametersName
  /** The request body, a JSON object. */
  body?: RecordName
  /** The function parses the body itself: its errors have a format of their own. */
  rawBody?: true
  /** The function accepts a body of any type of JSON. */
  anyBody?: true
  /** Without a body, the function receives null, or an empty object unless it accepts any body. */
  optionalBody?: true
  /** Bytes of the body, if it may have fewer than those of other operations. */
  maxBodyBytes?: number
  /** The body can also be lines of JSON. */
  bodyLines?: true
  /**
   * By status. The body is null if the response has none; `events`: it can be server-sent events; `lines`: it consists
   * of lines of JSON, each of them such a body; `csv`: it can be comma-separated values.
   */
  responses: Record<
    number,
    { description: string; body: ResponseBody | null; events?: true; lines?: true; csv?: true }
  >
  /** Errors beyond those of every operation. With a status if it is not the usual one of the code. */
  errors?: (ErrorCode | { code: ErrorCode; status: number })[]
  /** What it changes is recorded in the audit log, as this action. */
  audit?: AuditAction
  /** Rejects tokens that are bound to a tenant: what the operation shows or changes belongs to all tenants. */
  allTenants?: true
  /**
   * The response is streamed: it may exceed the 6 MB that Lambda buffers, or is larger than a packet of the network.
   * Only streamed responses are compressed.
   */
  streams?: true
  /** Served to people, also under these paths. It is not part of the contract: OpenAPI leaves it out. */
  page?: { otherPaths: readonly string[] }
} & (
  | { /** Requires no token. */ public: true }
  /** The scope that a token needs, or several of which one is enough. `any`: the function decides. */
  | { scope: Scope | Scope[] | 'any'; public?: never }
)

/** The name of a schema in `parameters.ts`. */
export type ParametersName = keyof typeof parameterSchemas

export const reading = { method: 'GET', scope: 'read' } as const
/** What changes agents, which belong to all tenants. */
export const managing = { method: 'POST', scope: 'manage', allTenants: true } as const

/** Errors of operations that parse their body as JSON. */
export const BODY_ERRORS = ['InvalidJson', 'PayloadTooLarge', 'UnsupportedMediaType'] as const

/** Errors of operations that start runs. */
export const START_ERRORS = [
  'AgentNotFound',
  'VersionNotFound',
  'AgentArchived',
  'VersionRetired',
  'InputSchemaMismatch',
  'IdempotencyKeyReused',
] as const

export const listOf = (items: string, record: RecordName) => ({
  200: { description: `${items}, newest first`, body: [record] as const },
})

/** Describes answers that `toSeenRecord` makes. */
export const UNREAD = 'only its ID and status if the token lacks the scope `read`'
export const changedExecutionResponse = {
  200: { description: `The execution; ${UNREAD}`, body: 'ChangedExecution' },
} as const
