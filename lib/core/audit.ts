/**
 * The changes that are recorded, with the members of a request that an entry may show: by name, or as `member.inner`.
 * Never secrets, inputs, outputs, or texts about them. Of a URL, only the origin is shown.
 */
export const AUDITED = {
  'agent.publish': ['slug', 'draft', 'versionId', 'isNew', 'schedules'],
  'agent.archive': [],
  'agent.restore': [],
  'version.promote': ['trial', 'currentVersionId'],
  'version.retire': [],
  'version.unretire': [],
  'version.delete': [],
  'rollout.put': [
    'versionId',
    'percent',
    'key',
    'trial',
    'abort.maxErrorRate',
    'abort.maxCostIncrease',
    'abort.maxScoreDrop',
    'abort.minRuns',
  ],
  'rollout.end': [],
  'execution.cancel': [],
  'execution.delete': [],
  'execution.review': [],
  'batch.cancel': [],
  'batch.delete': [],
  'trial.start': ['versionId', 'tenantId', 'limit', 'models', 'steps', 'maxTrialCostUsd', 'maxConcurrency'],
  'trial.cancel': [],
  'trial.delete': [],
  'approval.decide': ['decision', 'isEdited'],
  'limits.put': [
    'maxOpenExecutions',
    'maxRunsPerMinute',
    'maxCostUsd.day',
    'maxCostUsd.month',
    'warnAt',
    'queueWhenFull',
  ],
  'limits.delete': [],
  'schedule.put': [
    'cron',
    'timezone',
    'tenantId',
    'version',
    'overlap',
    'catchUpSeconds',
    'enabled',
    'isNew',
  ],
  'schedule.delete': [],
  'schedule.run': ['executionId'],
  'webhook.create': ['url', 'types', 'agents', 'tenants', 'sources', 'allowedHosts', 'enabled'],
  'webhook.update': ['url', 'types', 'agents', 'tenants', 'sources', 'allowedHosts', 'enabled'],
  'webhook.delete': [],
  'webhook.rotate': [],
  'webhook.test': [],
  'webhook.redeliver': ['deliveryId'],
  'token.create': ['name', 'scopes', 'agents', 'tenantId', 'rate', 'expiresAt'],
  'token.revoke': ['afterSeconds', 'expiresAt', 'name'],
  'organization.create': ['name'],
} as const satisfies Record<string, readonly string[]>

/** What starts something, unless its idempotency key is that of an earlier request: that has the entry. */
export const STARTING: ReadonlySet<AuditAction> = new Set(['trial.start', 'schedule.run'])

export type AuditAction = keyof typeof AUDITED
export const AUDIT_ACTIONS = Object.keys(AUDITED) as AuditAction[]

export const ACTOR_KINDS = ['token', 'subject', 'cli'] as const
export const TARGET_KINDS = [
  'agent',
  'version',
  'execution',
  'batch',
  'trial',
  'approval',
  'tenant',
  'schedule',
  'webhook',
  'token',
  'organization',
] as const
/** `STARTED`: the change is in progress, or nobody could store what became of it. */
export const AUDIT_RESULTS = ['STARTED', 'SUCCEEDED', 'FAILED'] as const
export const AUDIT_INTERFACES = ['HTTP', 'MCP', 'CLI'] as const

/**
 * Who makes a change. `id`: of the token; for a subject of the identity provider, the UUIDv5 of issuer and subject; on
 * the command line, the ARN of the AWS caller, or the user and the host.
 */
export type Actor = { kind: (typeof ACTOR_KINDS)[number]; id: string; name?: string; subject?: string }

/** From where. `ip`: as API Gateway, or the socket, knows it. `host`: of a command. */
export type AuditSource = {
  interface: (typeof AUDIT_INTERFACES)[number]
  ip?: string
  userAgent?: string
  host?: string
}

/**
 * What is changed. `id` null: it did not exist. `agentId`: of versions, schedules and trials that start. `executionId`:
 * of approvals.
 */
export type AuditTarget = {
  kind: (typeof TARGET_KINDS)[number]
  id: string | null
  agentId?: string
  executionId?: string
}

export type Scalar = string | number | boolean | null
/** `from`: only where the change reads it anyway. */
export type AuditChange = Scalar | Scalar[] | { from: Scalar; to: Scalar }
export type AuditChanges = Record<string, AuditChange>

/** What is known of a change before it. */
export type StartedChange = {
  organizationId: string
  actor: Actor
  source: AuditSource
  action: AuditAction
  target: AuditTarget
  changes: AuditChanges
}

export type AuditEntry = StartedChange & {
  /** UUIDv7 */
  id: string
  /** ISO 8601 */
  at: string
  result: (typeof AUDIT_RESULTS)[number]
  /** The code of the error of a change that failed. */
  error?: string
}
