import { MCP_PATH, METADATA_PATH } from '../access/protected-resource.ts'
import type { Scope } from '../core/access.ts'
import type { AuditAction } from '../core/audit.ts'
import type { ErrorCode } from '../core/errors.ts'
import { MAX_SIGNAL_BYTES } from '../core/limits.ts'
import type { parameterSchemas } from './parameters.ts'
import type { RecordName, ResponseBody } from './records/records.ts'

/**
 * The single source of the HTTP contract: the stack, the local gateway, request validation and OpenAPI read it. To add
 * an endpoint, add a row here and a file in `functions/`, or to its family's. Every function loads this file, so it
 * refers to schemas by name.
 */
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

const reading = { method: 'GET', scope: 'read' } as const
/** What changes agents, which belong to all tenants. */
const managing = { method: 'POST', scope: 'manage', allTenants: true } as const

/** Errors of operations that parse their body as JSON. */
const BODY_ERRORS = ['InvalidJson', 'PayloadTooLarge', 'UnsupportedMediaType'] as const

/** Errors of operations that start runs. */
const START_ERRORS = [
  'AgentNotFound',
  'VersionNotFound',
  'AgentArchived',
  'VersionRetired',
  'InputSchemaMismatch',
  'IdempotencyKeyReused',
] as const

const listOf = (items: string, record: RecordName) => ({
  200: { description: `${items}, newest first`, body: [record] as const },
})
const versionResponse = { 200: { description: 'The version', body: 'Version' } } as const
const agentResponse = { 200: { description: 'The agent', body: 'Agent' } } as const
const webhookResponse = { 200: { description: 'The webhook', body: 'Webhook' } } as const
const executionResponse = { 200: { description: 'The execution', body: 'Execution' } } as const
/** Describes answers that `toSeenRecord` makes. */
const UNREAD = 'only its ID and status if the token lacks the scope `read`'
const changedExecutionResponse = {
  200: { description: `The execution; ${UNREAD}`, body: 'ChangedExecution' },
} as const

/** Webhooks receive the events of all tenants. */
const webhook = { family: 'manage-webhooks', allTenants: true } as const
const deliveryResponse = {
  200: { description: 'The delivery, after one attempt', body: 'Delivery' },
} as const

/** Limits are those of other tenants, too. */
const limits = { family: 'manage-limits', allTenants: true } as const
const TENANT_LIMITS_PATH = '/v1/tenants/{tenantId}/limits'
const AGENT_LIMITS_PATH = '/v1/agents/{agentId}/limits'
const limitsResponse = { 200: { description: 'The limits', body: 'Limits' } } as const
const limitsDetailsResponse = {
  200: { description: 'The limits, and what is used of them', body: 'LimitsDetails' },
} as const
const LIMITS_BODY_ERRORS = [...BODY_ERRORS, 'InputSchemaMismatch'] as const

/** Of the tokens of other tenants and of more agents, those that are limited to some see nothing. */
const tokens = { family: 'manage-access', scope: 'manage' } as const

/** A rollout is about the runs of all tenants. */
const rollout = { family: 'manage-rollouts', allTenants: true } as const
const ROLLOUT_PATH = '/v1/agents/{agentId}/rollout'
const rolloutResponse = { 200: { description: 'The rollout', body: 'Rollout' } } as const

/** The executions of a schedule can be of any tenant. */
const schedule = { family: 'manage-schedules', allTenants: true } as const
const SCHEDULE_PATH = '/v1/agents/{agentId}/schedules/{scheduleName}'
/** All of them stream: a function cannot serve both kinds. */
const batch = { family: 'manage-batches', streams: true } as const

/** Originals are of all tenants. */
const trial = { family: 'manage-trials', allTenants: true } as const
/** What repeats an execution, and compares the two. */
const repetition = { family: 'rerun-execution', streams: true } as const

const signalRequest = {
  headers: 'signalHeaders',
  body: 'SignalData',
  anyBody: true,
  maxBodyBytes: MAX_SIGNAL_BYTES,
  responses: { 202: { description: 'The signal is kept until a wait takes it', body: 'SentSignal' } },
} as const
const SIGNAL_ERRORS = [
  'InvalidHeader',
  ...BODY_ERRORS,
  'ExecutionNotFound',
  'InputSchemaMismatch',
  'IdempotencyKeyReused',
] as const

/** 404 without an identity provider. */
const resourceMetadata = {
  family: 'get-openapi-document',
  method: 'GET',
  public: true,
  responses: { 200: { description: 'The metadata', body: 'ResourceMetadata' } },
  streams: true,
} as const

/** The operations by name. */
export const operations = {
  'check-health': {
    method: 'GET',
    path: '/v1/healthcheck',
    summary: 'Check the health of the service',
    public: true,
    ignoresQuery: true,
    responses: { 200: { description: 'The service is healthy', body: 'Health' } },
    errors: ['Unavailable'],
  },
  'get-openapi-document': {
    family: 'get-openapi-document',
    method: 'GET',
    path: '/v1/openapi.json',
    summary: 'Get the OpenAPI document of the service',
    public: true,
    responses: { 200: { description: 'The OpenAPI 3.1 document', body: 'OpenApiDocument' } },
    streams: true,
  },
  'get-resource-metadata': {
    ...resourceMetadata,
    path: METADATA_PATH,
    summary: 'Get the OAuth 2.0 metadata of the service (RFC 9728)',
    errors: ['RouteNotFound'],
  },
  'get-mcp-resource-metadata': {
    ...resourceMetadata,
    path: `${METADATA_PATH}${MCP_PATH}`,
    summary: 'Get the OAuth 2.0 metadata of the MCP endpoint (RFC 9728)',
    errors: ['RouteNotFound'],
  },
  'get-me': {
    ...reading,
    path: '/v1/me',
    summary: 'Get the organization and the limits of the token',
    responses: { 200: { description: 'The token', body: 'Me' } },
  },
  'serve-mcp': {
    method: 'POST',
    path: MCP_PATH,
    summary: 'Call agents as tools of the Model Context Protocol',
    scope: 'any',
    body: 'McpMessage',
    rawBody: true,
    responses: {
      200: {
        description: 'The response to a request, or an event stream that ends with it',
        body: 'McpMessage',
        events: true,
      },
      202: { description: 'The notification is accepted', body: null },
      400: { description: 'Invalid message', body: 'McpMessage' },
      404: { description: 'Unknown method', body: 'McpMessage' },
      406: { description: 'The client does not accept JSON and event streams', body: 'McpMessage' },
      413: { description: 'The message is too large', body: 'McpMessage' },
      415: { description: 'The message is not JSON', body: 'McpMessage' },
    },
    errors: ['Forbidden', 'PayloadTooLarge'],
    streams: true,
  },
  'list-agents': {
    ...reading,
    path: '/v1/agents',
    summary: 'List the agents of the organization',
    query: 'agentPageParameters',
    responses: listOf('Agents', 'Agent'),
    streams: true,
  },
  'publish-agent': {
    ...managing,
    path: '/v1/agents',
    audit: 'agent.publish',
    summary: 'Publish a version of an agent, which is created if it does not exist',
    body: 'PublishBody',
    responses: {
      200: { description: 'The version that has this content already', body: 'Version' },
      201: { description: 'The new version', body: 'Version' },
    },
    errors: [...BODY_ERRORS, 'AgentArchived', 'InvalidAgent', 'TrialRequired'],
  },
  'get-agent': {
    ...reading,
    path: '/v1/agents/{agentId}',
    summary: 'Get an agent',
    responses: agentResponse,
    errors: ['AgentNotFound'],
    streams: true,
  },
  'archive-agent': {
    ...managing,
    path: '/v1/agents/{agentId}/archive',
    audit: 'agent.archive',
    summary: 'Archive an agent: it accepts no new runs, and lists leave it out',
    responses: agentResponse,
    errors: ['AgentNotFound'],
  },
  'restore-agent': {
    ...managing,
    path: '/v1/agents/{agentId}/restore',
    audit: 'agent.restore',
    summary: 'Restore an archived agent',
    responses: agentResponse,
    errors: ['AgentNotFound'],
  },
  'list-versions': {
    ...reading,
    path: '/v1/agents/{agentId}/versions',
    summary: 'List the versions of an agent',
    query: 'pageParameters',
    responses: listOf('Versions', 'Version'),
    errors: ['AgentNotFound'],
    streams: true,
  },
  'get-version': {
    ...reading,
    path: '/v1/agents/{agentId}/versions/{versionId}',
    summary: 'Get a version of an agent with its whole document',
    query: 'versionParameters',
    allTenants: true,
    responses: { 200: { description: 'The version', body: 'VersionDetails' } },
    errors: ['AgentNotFound', 'VersionNotFound'],
    streams: true,
  },
  'delete-version': {
    method: 'DELETE',
    path: '/v1/agents/{agentId}/versions/{versionId}',
    audit: 'version.delete',
    summary: 'Delete a draft and its code',
    scope: 'manage',
    allTenants: true,
    responses: { 204: { description: 'Deleted', body: null } },
    errors: ['AgentNotFound', 'VersionNotFound', 'ExecutionInProgress', 'VersionPublished'],
  },
  'promote-version': {
    ...managing,
    path: '/v1/agents/{agentId}/versions/{versionId}/promote',
    audit: 'version.promote',
    summary: 'Make a version current: a draft as it is, or an older version again',
    query: 'promotionParameters',
    responses: agentResponse,
    errors: [
      'AgentNotFound',
      'VersionNotFound',
      'AgentArchived',
      { code: 'VersionRetired', status: 409 },
      'TrialRequired',
      'TrialNotFound',
      'TrialFailed',
    ],
  },
  'retire-version': {
    family: 'retire-version',
    ...managing,
    path: '/v1/agents/{agentId}/versions/{versionId}/retire',
    audit: 'version.retire',
    summary: 'Retire a version: it accepts no new runs and cannot become current',
    responses: versionResponse,
    errors: ['AgentNotFound', 'VersionNotFound', 'VersionNotRetirable'],
  },
  'unretire-version': {
    family: 'retire-version',
    ...managing,
    path: '/v1/agents/{agentId}/versions/{versionId}/unretire',
    audit: 'version.unretire',
    summary: 'Make a retired version usable again',
    responses: versionResponse,
    errors: ['AgentNotFound', 'VersionNotFound'],
  },
  'put-rollout': {
    ...managing,
    ...rollout,
    method: 'PUT',
    path: ROLLOUT_PATH,
    audit: 'rollout.put',
    summary: 'Start or change a rollout: a part of the runs gets another version than the current one',
    body: 'RolloutBody',
    responses: rolloutResponse,
    errors: [
      ...BODY_ERRORS,
      'AgentNotFound',
      'VersionNotFound',
      'TrialNotFound',
      'AgentArchived',
      { code: 'VersionRetired', status: 409 },
      'TrialRequired',
      'TrialFailed',
      'InputSchemaMismatch',
    ],
  },
  'get-rollout': {
    ...reading,
    ...rollout,
    path: ROLLOUT_PATH,
    summary: 'Get the rollout of an agent',
    responses: rolloutResponse,
    errors: ['AgentNotFound', 'RolloutNotFound'],
  },
  'delete-rollout': {
    ...managing,
    ...rollout,
    method: 'DELETE',
    path: ROLLOUT_PATH,
    audit: 'rollout.end',
    summary: 'End the rollout of an agent: all runs get the current version',
    responses: { 204: { description: 'Ended', body: null } },
    errors: ['AgentNotFound', 'RolloutNotFound'],
  },
  'run-agent': {
    method: 'POST',
    path: '/v1/agents/{agentId}/executions',
    summary: 'Run an agent',
    scope: 'run',
    query: 'runParameters',
    headers: 'runHeaders',
    body: 'Input',
    anyBody: true,
    responses: {
      200: {
        description:
          'The output (synchronous run); the events of the run if `Accept` names `text/event-stream`',
        body: 'Output',
        events: true,
      },
      202: {
        description: 'The execution, for polling: of an asynchronous run, or of one that waits',
        body: 'Execution',
      },
    },
    errors: [
      'InvalidHeader',
      ...BODY_ERRORS,
      'InvalidModelOverride',
      'ExecutionInProgress',
      ...START_ERRORS,
      'ExecutionDeleted',
      'LimitExceeded',
      'ExecutionFailed',
      'ExecutionStillRunning',
    ],
    streams: true,
  },
  'list-agent-executions': {
    ...reading,
    path: '/v1/agents/{agentId}/executions',
    summary: 'List the executions of an agent',
    query: 'executionPageParameters',
    responses: listOf('Executions', 'ListedExecution'),
    errors: ['AgentNotFound'],
    streams: true,
  },
  'list-executions': {
    ...reading,
    path: '/v1/agent_executions',
    summary: 'List the executions of all agents of the organization',
    query: 'executionPageParameters',
    responses: listOf('Executions', 'ListedExecution'),
    streams: true,
  },
  'get-execution': {
    ...reading,
    path: '/v1/agent_executions/{executionId}',
    summary: 'Get an execution, immediately or when it is final',
    query: 'executionParameters',
    headers: 'waitHeaders',
    responses: executionResponse,
    errors: ['ExecutionNotFound'],
    streams: true,
  },
  'list-steps': {
    ...reading,
    path: '/v1/agent_executions/{executionId}/steps',
    summary: 'List the steps of an execution',
    query: 'stepPageParameters',
    responses: { 200: { description: 'Steps, in order', body: ['Step'] } },
    errors: ['ExecutionNotFound'],
    streams: true,
  },
  'stream-events': {
    ...reading,
    path: '/v1/agent_executions/{executionId}/events',
    summary: 'Stream the events of an execution',
    query: 'eventParameters',
    headers: 'eventHeaders',
    responses: {
      200: {
        description:
          'Server-sent events: `step` (a record of the list of steps; its number is the id), `tool`, `status`, and at the end `done` (the execution) or, if it is suspended, `waiting`',
        body: null,
        events: true,
      },
    },
    errors: ['InvalidHeader', 'ExecutionNotFound'],
    streams: true,
  },
  'delete-execution': {
    method: 'DELETE',
    path: '/v1/agent_executions/{executionId}',
    audit: 'execution.delete',
    summary: 'Delete an execution and everything that belongs to it',
    scope: 'manage',
    responses: { 204: { description: 'Deleted', body: null } },
    errors: ['ExecutionNotFound', 'ExecutionInProgress', 'BatchInProgress'],
  },
  'cancel-execution': {
    method: 'POST',
    path: '/v1/agent_executions/{executionId}/cancel',
    audit: 'execution.cancel',
    summary: 'Cancel an execution that is in progress; a final one does not change',
    scope: 'run',
    responses: changedExecutionResponse,
    errors: ['ExecutionNotFound'],
    streams: true,
  },
  'rerun-execution': {
    ...repetition,
    method: 'POST',
    path: '/v1/agent_executions/{executionId}/rerun',
    summary: 'Run the agent of an execution again with its input',
    scope: 'run',
    headers: 'runHeaders',
    body: 'RerunBody',
    optionalBody: true,
    responses: {
      200: { description: 'The execution of an earlier request, which has ended', body: 'Execution' },
      202: { description: 'The new execution, for polling', body: 'Execution' },
    },
    errors: [
      'InvalidHeader',
      ...BODY_ERRORS,
      'InvalidModelOverride',
      'ExecutionNotFound',
      'ExecutionInProgress',
      ...START_ERRORS,
      'ExecutionDeleted',
      'LimitExceeded',
    ],
  },
  'compare-executions': {
    ...repetition,
    ...reading,
    path: '/v1/agent_executions/{executionId}/compare/{otherId}',
    summary: 'Compare the results and the steps of two executions',
    responses: { 200: { description: 'What differs', body: 'ExecutionComparison' } },
    errors: ['ExecutionNotFound'],
  },
  'list-approvals': {
    family: 'decide-approval',
    method: 'GET',
    path: '/v1/approvals',
    summary: 'List the approvals that executions wait for',
    scope: ['approve', 'read'],
    query: 'approvalPageParameters',
    responses: {
      200: { description: 'Approvals, those of the newest execution first', body: ['Approval'] },
    },
    errors: ['AgentNotFound'],
  },
  'decide-approval': {
    family: 'decide-approval',
    method: 'POST',
    path: '/v1/agent_executions/{executionId}/approvals/{approvalId}',
    audit: 'approval.decide',
    summary: 'Approve or reject what an execution waits for',
    scope: 'approve',
    body: 'DecisionBody',
    responses: { 200: { description: 'The decision', body: 'Decision' } },
    errors: [
      ...BODY_ERRORS,
      'ExecutionNotFound',
      'ApprovalNotFound',
      'ApprovalDecided',
      'ExecutionEnded',
      'InputSchemaMismatch',
    ],
  },
  'give-feedback': {
    method: 'PUT',
    path: '/v1/agent_executions/{executionId}/feedback',
    audit: 'execution.review',
    summary: 'Rate or correct the result of an execution',
    scope: ['run', 'review', 'manage'],
    body: 'FeedbackBody',
    responses: changedExecutionResponse,
    errors: [
      ...BODY_ERRORS,
      'ExecutionNotFound',
      'VersionNotFound',
      'ExecutionInProgress',
      'FeedbackMismatch',
    ],
    streams: true,
  },
  'send-signal': {
    family: 'send-signal',
    method: 'POST',
    path: '/v1/agent_executions/{executionId}/signals/{name}',
    summary: 'Send data to an execution that waits for it, or will',
    scope: 'run',
    ...signalRequest,
    errors: ['BadRequest', ...SIGNAL_ERRORS, 'ExecutionEnded'],
  },
  'list-signals': {
    family: 'send-signal',
    ...reading,
    path: '/v1/agent_executions/{executionId}/signals',
    summary: 'List the signals that no wait of an execution has taken',
    query: 'pageParameters',
    responses: { 200: { description: 'Signals, oldest first', body: ['Signal'] } },
    errors: ['ExecutionNotFound'],
  },
  'send-callback': {
    family: 'send-signal',
    method: 'POST',
    path: '/v1/callbacks/{executionId}/{name}/{mac}',
    summary: 'Send data to an execution by a URL of `context.callbackUrl`',
    public: true,
    optionalBody: true,
    ...signalRequest,
    errors: [...SIGNAL_ERRORS],
  },
  'list-webhooks': {
    ...webhook,
    ...reading,
    path: '/v1/webhooks',
    summary: 'List the webhooks of the organization',
    responses: listOf('Webhooks', 'Webhook'),
  },
  'create-webhook': {
    ...managing,
    ...webhook,
    path: '/v1/webhooks',
    audit: 'webhook.create',
    summary: 'Create a webhook, which receives events of executions',
    body: 'WebhookBody',
    responses: {
      201: { description: 'The webhook with its secret, which is not shown again', body: 'CreatedWebhook' },
    },
    errors: ['BadRequest', ...BODY_ERRORS, 'TooManyWebhooks', 'InputSchemaMismatch'],
  },
  'get-webhook': {
    ...webhook,
    ...reading,
    path: '/v1/webhooks/{webhookId}',
    summary: 'Get a webhook',
    responses: webhookResponse,
    errors: ['WebhookNotFound'],
  },
  'update-webhook': {
    ...managing,
    ...webhook,
    method: 'PATCH',
    path: '/v1/webhooks/{webhookId}',
    audit: 'webhook.update',
    summary: 'Change fields of a webhook',
    body: 'WebhookChanges',
    responses: webhookResponse,
    errors: [...BODY_ERRORS, 'WebhookNotFound', 'InputSchemaMismatch'],
  },
  'delete-webhook': {
    ...managing,
    ...webhook,
    method: 'DELETE',
    path: '/v1/webhooks/{webhookId}',
    audit: 'webhook.delete',
    summary: 'Delete a webhook and its secrets',
    responses: { 204: { description: 'Deleted', body: null } },
    errors: ['WebhookNotFound'],
  },
  'rotate-webhook': {
    ...managing,
    ...webhook,
    path: '/v1/webhooks/{webhookId}/rotate',
    audit: 'webhook.rotate',
    summary: 'Replace the secret of a webhook, or of the URLs that are given with runs (`default`)',
    responses: {
      200: { description: 'The new secret, which is not shown again', body: 'RotatedSecret' },
    },
    errors: ['WebhookNotFound'],
  },
  'test-webhook': {
    ...managing,
    ...webhook,
    path: '/v1/webhooks/{webhookId}/test',
    audit: 'webhook.test',
    summary: 'Send a test event to a webhook',
    responses: { 200: { description: 'What the receiver answered', body: 'TestResult' } },
    errors: ['WebhookNotFound'],
  },
  'list-deliveries': {
    ...webhook,
    ...reading,
    path: '/v1/webhooks/{webhookId}/deliveries',
    summary:
      'List the deliveries of events to a webhook, or to the URLs that are given with runs (`default`)',
    query: 'pageParameters',
    responses: listOf('Deliveries', 'Delivery'),
    errors: ['WebhookNotFound'],
  },
  redeliver: {
    ...managing,
    ...webhook,
    path: '/v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver',
    audit: 'webhook.redeliver',
    summary: 'Send an event to a webhook again',
    responses: deliveryResponse,
    errors: ['WebhookNotFound', 'DeliveryNotFound'],
  },
  'list-limits': {
    ...limits,
    method: 'GET',
    scope: ['read', 'manage'],
    path: '/v1/limits',
    summary: 'List the limits of agents and tenants',
    query: 'limitsPageParameters',
    responses: {
      200: { description: 'Limits of agents, then those of tenants, each by ID', body: ['Limits'] },
    },
  },
  'get-tenant-limits': {
    ...limits,
    method: 'GET',
    scope: ['read', 'manage'],
    path: TENANT_LIMITS_PATH,
    summary: 'Get the limits of a tenant, and what is used of them',
    responses: limitsDetailsResponse,
    errors: ['LimitsNotFound'],
  },
  'put-tenant-limits': {
    ...limits,
    method: 'PUT',
    scope: 'manage',
    path: TENANT_LIMITS_PATH,
    audit: 'limits.put',
    summary: 'Set or replace the limits of a tenant',
    body: 'LimitsBody',
    responses: limitsResponse,
    errors: ['BadRequest', ...LIMITS_BODY_ERRORS],
  },
  'delete-tenant-limits': {
    ...limits,
    method: 'DELETE',
    scope: 'manage',
    path: TENANT_LIMITS_PATH,
    audit: 'limits.delete',
    summary: 'Delete the limits of a tenant',
    responses: { 204: { description: 'Deleted', body: null } },
    errors: ['LimitsNotFound'],
  },
  'get-agent-limits': {
    ...limits,
    method: 'GET',
    scope: ['read', 'manage'],
    path: AGENT_LIMITS_PATH,
    summary: 'Get the limits of an agent, and what is used of them',
    responses: limitsDetailsResponse,
    errors: ['AgentNotFound', 'LimitsNotFound'],
  },
  'put-agent-limits': {
    ...limits,
    method: 'PUT',
    scope: 'manage',
    path: AGENT_LIMITS_PATH,
    audit: 'limits.put',
    summary: 'Set or replace the limits of an agent',
    body: 'LimitsBody',
    responses: limitsResponse,
    errors: ['AgentNotFound', ...LIMITS_BODY_ERRORS],
  },
  'delete-agent-limits': {
    ...limits,
    method: 'DELETE',
    scope: 'manage',
    path: AGENT_LIMITS_PATH,
    audit: 'limits.delete',
    summary: 'Delete the limits of an agent',
    responses: { 204: { description: 'Deleted', body: null } },
    errors: ['AgentNotFound', 'LimitsNotFound'],
  },
  'list-audit-entries': {
    family: 'manage-access',
    method: 'GET',
    scope: 'manage',
    allTenants: true,
    path: '/v1/audit',
    summary: 'List the changes of the organization',
    query: 'auditParameters',
    responses: listOf('Changes', 'AuditEntry'),
  },
  'list-tokens': {
    ...tokens,
    method: 'GET',
    path: '/v1/tokens',
    summary: 'List the API tokens of the organization',
    query: 'pageParameters',
    responses: listOf('Tokens', 'Token'),
  },
  'create-token': {
    ...tokens,
    method: 'POST',
    path: '/v1/tokens',
    audit: 'token.create',
    summary: 'Create an API token, which may do no more than the one of the request',
    body: 'TokenBody',
    responses: { 201: { description: 'The token, which is not shown again', body: 'CreatedToken' } },
    errors: [...BODY_ERRORS, 'InputSchemaMismatch'],
  },
  'revoke-token': {
    ...tokens,
    method: 'DELETE',
    path: '/v1/tokens/{tokenId}',
    audit: 'token.revoke',
    summary: 'Revoke an API token, at once or after a time',
    query: 'revocationParameters',
    responses: { 200: { description: 'The token, with its end', body: 'Token' } },
    errors: ['TokenNotFound'],
  },
  'list-schedules': {
    ...schedule,
    ...reading,
    path: '/v1/agents/{agentId}/schedules',
    summary: 'List the schedules of an agent',
    query: 'pageParameters',
    responses: { 200: { description: 'Schedules, by name', body: ['Schedule'] } },
    errors: ['AgentNotFound'],
  },
  'put-schedule': {
    ...managing,
    ...schedule,
    method: 'PUT',
    path: SCHEDULE_PATH,
    audit: 'schedule.put',
    summary: 'Create or replace a schedule, which starts executions of an agent',
    body: 'ScheduleBody',
    responses: {
      200: { description: 'The schedule, which existed', body: 'Schedule' },
      201: { description: 'The schedule, which is new', body: 'Schedule' },
    },
    errors: [
      'BadRequest',
      ...BODY_ERRORS,
      'AgentNotFound',
      'VersionNotFound',
      'TooManySchedules',
      'AgentArchived',
      'VersionRetired',
      'InputSchemaMismatch',
    ],
  },
  'get-schedule': {
    ...schedule,
    ...reading,
    path: SCHEDULE_PATH,
    summary: 'Get a schedule, its next times and its last firings',
    responses: { 200: { description: 'The schedule', body: 'Schedule' } },
    errors: ['AgentNotFound', 'ScheduleNotFound'],
  },
  'delete-schedule': {
    ...managing,
    ...schedule,
    method: 'DELETE',
    path: SCHEDULE_PATH,
    audit: 'schedule.delete',
    summary: 'Delete a schedule; its executions stay',
    responses: { 204: { description: 'Deleted', body: null } },
    errors: ['AgentNotFound', 'ScheduleNotFound'],
  },
  'run-schedule': {
    ...managing,
    ...schedule,
    path: `${SCHEDULE_PATH}/run`,
    audit: 'schedule.run',
    summary: 'Start an execution of a schedule now',
    headers: 'runHeaders',
    responses: {
      200: { description: `The execution, whose result was cached; ${UNREAD}`, body: 'ChangedExecution' },
      202: { description: `The execution, for polling; ${UNREAD}`, body: 'ChangedExecution' },
    },
    errors: [
      'InvalidHeader',
      'InvalidModelOverride',
      ...START_ERRORS,
      'ScheduleNotFound',
      'ExecutionDeleted',
      'LimitExceeded',
    ],
  },
  'start-batch': {
    ...batch,
    method: 'POST',
    path: '/v1/agents/{agentId}/batches',
    summary: 'Run an agent with many inputs',
    scope: 'run',
    query: 'batchParameters',
    headers: 'runHeaders',
    body: 'BatchBody',
    rawBody: true,
    bodyLines: true,
    responses: {
      200: { description: 'The batch is valid (`validateOnly=true`)', body: 'BatchCheck' },
      202: { description: 'The batch', body: 'Batch' },
    },
    errors: ['InvalidHeader', ...BODY_ERRORS, 'InvalidModelOverride', ...START_ERRORS],
  },
  'list-batches': {
    ...batch,
    ...reading,
    path: '/v1/batches',
    summary: 'List the batches of the organization',
    query: 'batchPageParameters',
    responses: listOf('Batches', 'Batch'),
    errors: ['AgentNotFound'],
  },
  'get-batch': {
    ...batch,
    ...reading,
    path: '/v1/batches/{batchId}',
    summary: 'Get a batch, or its progress as an event stream',
    headers: 'batchHeaders',
    responses: {
      200: {
        description:
          'The batch; server-sent events if `Accept` names `text/event-stream`: `counts` (the batch, whenever its lines have changed) and at the end `ended` (the batch)',
        body: 'Batch',
        events: true,
      },
    },
    errors: ['InvalidHeader', 'BatchNotFound'],
  },
  'list-batch-results': {
    ...batch,
    ...reading,
    path: '/v1/batches/{batchId}/results',
    summary: 'Get the results of a batch, also while it is in progress',
    query: 'resultPageParameters',
    responses: {
      200: {
        description: 'Results in the order of the inputs, as lines of JSON',
        body: 'BatchResult',
        lines: true,
      },
    },
    errors: ['BatchNotFound'],
  },
  'list-batch-executions': {
    ...batch,
    ...reading,
    path: '/v1/batches/{batchId}/executions',
    summary: 'List the executions of a batch',
    query: 'lineExecutionPageParameters',
    responses: {
      200: { description: 'Executions in the order of the inputs', body: ['ListedExecution'] },
    },
    errors: ['BatchNotFound'],
  },
  'cancel-batch': {
    ...batch,
    method: 'POST',
    path: '/v1/batches/{batchId}/cancel',
    audit: 'batch.cancel',
    summary: 'Cancel a batch and its executions that are in progress; one that has ended does not change',
    scope: 'run',
    responses: { 202: { description: `The batch; ${UNREAD}`, body: 'ChangedBatch' } },
    errors: ['BatchNotFound'],
  },
  'retry-batch': {
    ...batch,
    method: 'POST',
    path: '/v1/batches/{batchId}/retry-failed',
    summary: 'Start a new batch of the lines of one that has ended which failed or were not started',
    scope: 'run',
    headers: 'runHeaders',
    responses: { 202: { description: `The new batch; ${UNREAD}`, body: 'ChangedBatch' } },
    errors: ['InvalidHeader', 'InvalidModelOverride', ...START_ERRORS, 'BatchNotFound', 'BatchInProgress'],
  },
  'delete-batch': {
    ...batch,
    method: 'DELETE',
    path: '/v1/batches/{batchId}',
    audit: 'batch.delete',
    summary: 'Delete a batch that has ended, and its executions',
    scope: 'manage',
    responses: { 204: { description: 'Deleted', body: null } },
    errors: ['BatchNotFound', 'BatchInProgress'],
  },
  'start-trial': {
    ...managing,
    ...trial,
    path: '/v1/agents/{agentId}/versions/{versionId}/trials',
    audit: 'trial.start',
    summary: 'Try a version on executions of the agent that have ended',
    headers: 'runHeaders',
    body: 'TrialBody',
    optionalBody: true,
    responses: { 202: { description: `The trial; ${UNREAD}`, body: 'ChangedTrial' } },
    errors: ['InvalidHeader', ...BODY_ERRORS, ...START_ERRORS],
  },
  'list-trials': {
    ...trial,
    ...reading,
    path: '/v1/trials',
    summary: 'List the trials of the organization',
    query: 'trialPageParameters',
    responses: listOf('Trials', 'Trial'),
    errors: ['AgentNotFound'],
  },
  'get-trial': {
    ...trial,
    ...reading,
    path: '/v1/trials/{trialId}',
    summary: 'Get a trial',
    responses: { 200: { description: 'The trial', body: 'Trial' } },
    errors: ['TrialNotFound'],
  },
  'list-trial-items': {
    ...trial,
    ...reading,
    path: '/v1/trials/{trialId}/items',
    summary: 'List the executions of a trial, with their verdicts',
    query: 'trialItemPageParameters',
    responses: { 200: { description: 'In the order of the originals', body: ['TrialItem'] } },
    errors: ['TrialNotFound'],
  },
  'cancel-trial': {
    ...managing,
    ...trial,
    path: '/v1/trials/{trialId}/cancel',
    audit: 'trial.cancel',
    summary: 'Cancel a trial and its executions that are in progress; one that has ended does not change',
    responses: { 202: { description: `The trial; ${UNREAD}`, body: 'ChangedTrial' } },
    errors: ['TrialNotFound'],
  },
  'delete-trial': {
    ...managing,
    ...trial,
    method: 'DELETE',
    path: '/v1/trials/{trialId}',
    audit: 'trial.delete',
    summary: 'Delete a trial that has ended, and its executions',
    responses: { 204: { description: 'Deleted', body: null } },
    errors: ['TrialNotFound', 'BatchInProgress'],
  },
  'get-usage': {
    family: 'read-usage',
    ...reading,
    path: '/v1/usage',
    summary: 'Get what the runs that have ended used and cost, by interval and group',
    query: 'usageParameters',
    responses: {
      200: {
        description:
          'Rows by interval, oldest first, then by group; comma-separated values with a header (RFC 4180) if `Accept` prefers `text/csv`. Intervals without runs have no row. Runs are in it usually within two minutes after their end, at the latest 8 minutes after the interval has ended.',
        body: ['UsageRow'],
        csv: true,
      },
    },
    errors: ['AgentNotFound'],
    streams: true,
  },
  'serve-console': {
    method: 'GET',
    path: '/console',
    page: { otherPaths: ['/', '/console/{file}'] },
    summary: 'Serve the web console',
    public: true,
    ignoresQuery: true,
    responses: { 200: { description: 'A file of the console', body: null } },
    streams: true,
  },
} as const satisfies Record<string, Operation>

export type OperationName = keyof typeof operations

/** An operation without its literal types. */
export const getOperation = (name: OperationName): Operation => operations[name]

/** A file of `functions/` that serves operations. */
export type EndpointFunction = {
  [Name in OperationName]: (typeof operations)[Name] extends { family: infer Family extends string }
    ? Family
    : Name
}[OperationName]

export const functionOf = (name: OperationName): EndpointFunction =>
  (getOperation(name).family ?? name) as EndpointFunction

/** The operations that a function serves: one, or a family. None for a function that is not an endpoint. */
export const operationsOf = (functionName: string): OperationName[] =>
  operationNames.filter((name) => functionOf(name) === functionName)

export const operationNames = Object.keys(operations) as OperationName[]

export type Route = { operation: OperationName; method: Operation['method']; path: string; legacy: boolean }

const currentRoutes: Route[] = operationNames.flatMap((name) => {
  const { method, path, page } = getOperation(name)
  const paths = [path, ...(page?.otherPaths ?? [])]
  return paths.map((path) => ({ operation: name, method, path, legacy: false }))
})

/** Routes under the legacy name of agents, document: all of agents and executions, except those of families. */
const legacyRoutes: Route[] = currentRoutes
  .filter(({ path, operation }) => path.startsWith('/v1/agent') && !getOperation(operation).family)
  .map((route) => ({ ...route, path: route.path.replace('/v1/agent', '/v1/document'), legacy: true }))

/** Every route. Each path works with and without a trailing slash. */
export const routes: Route[] = [...currentRoutes, ...legacyRoutes]

/** The routes of the contract: all but those of pages. */
export const apiRoutes: Route[] = routes.filter((route) => !getOperation(route.operation).page)

/** The methods of a path of `routes`, sorted. HEAD behaves like GET, without a body. */
export function methodsOf(path: string): string[] {
  const methods = routes.filter((route) => route.path === path).map(({ method }) => method)
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort()
}

/** Whether no operation of the path requires a token. */
export const isPublicPath = (path: string): boolean =>
  routes.every((route) => route.path !== path || getOperation(route.operation).public)
