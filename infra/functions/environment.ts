import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import { toSignInScope } from '../../lib/access/protected-resource.ts'
import { functionOf, getOperation, operationsOf } from '../../lib/contract/routes.ts'
import type { Reader, Setting } from '../../lib/contract/settings/setting.ts'
import { SETTINGS, type SettingName } from '../../lib/contract/settings/table.ts'
import { MCP_DEADLINE_MS, SYNC_DEADLINE_MS } from '../../lib/core/limits.ts'
import { TABLE_SETTINGS } from '../../lib/dynamodb/table/settings-tag.ts'
import * as variables from '../../lib/environment.ts'
import { STACK_KEYS } from '../../lib/models/providers/provider-settings.ts'
import { parsePublicUrl } from '../../lib/public-url.ts'
import { isPaused, type ServiceSettings } from '../settings.ts'
import type { Queues } from '../storage.ts'
import { getAuditPrefix } from './apply-grant.ts'
import { divideConcurrency, QUOTA_FUNCTIONS } from './concurrency.ts'
import { AGENT_FUNCTIONS, type FunctionName, MODEL_FUNCTIONS } from './function-settings.ts'
import { AUDIT_READERS, GRANTS, SECRET_FUNCTIONS } from './grants.ts'
import { getSecretsPath } from './permissions.ts'

/** For the functions that accept runs and wait for them. */
const DEADLINES: Partial<Record<FunctionName, typeof SYNC_DEADLINE_MS | typeof MCP_DEADLINE_MS>> = {
  'run-agent': SYNC_DEADLINE_MS,
  'serve-mcp': MCP_DEADLINE_MS,
}

const operationsWith = (name: FunctionName) => operationsOf(name).map((each) => getOperation(each))

/** Whether the function calls models: it runs agents, or stores what an embedding model makes of rated inputs. */
export const usesModels = (
  name: FunctionName,
  { embeddingModel }: Pick<ServiceSettings, 'embeddingModel'>,
): boolean => AGENT_FUNCTIONS.includes(name) || (name === 'give-feedback' && embeddingModel !== null)

/** Whether the function reads the secret with the headers of the requests that send traces. */
const readsTraceHeaders = (name: FunctionName, { otlpHeaders }: Pick<ServiceSettings, 'otlpHeaders'>) =>
  name === 'deliver-events' && otlpHeaders !== null

/** The functions that `readBy` means in the table of settings. */
const READERS: Record<Reader, (name: FunctionName, settings: ServiceSettings) => boolean> = {
  all: () => true,
  agents: (name) => AGENT_FUNCTIONS.includes(name),
  'audit-log': (name) => AUDIT_READERS.includes(name),
  authorizer: (name) => name === 'authorize-request',
  bodies: (name) => operationsWith(name).some(({ body }) => body),
  changes: (name) => getAuditPrefix(name) !== null,
  deliveries: (name) => GRANTS[name].deliveryQueue !== undefined,
  endpoints: (name) => operationsOf(name).length > 0,
  'model-calls': usesModels,
  models: (name) => MODEL_FUNCTIONS.includes(name),
  'private-hosts': (name) => [...SECRET_FUNCTIONS, 'publish-agent'].includes(name),
  publishing: (name) => name === 'publish-agent',
  'resource-metadata': (name, { oidcIssuer }) =>
    oidcIssuer !== null && name === functionOf('get-resource-metadata'),
  retention: (_, { executionRetentionDays }) => executionRetentionDays !== null,
  'run-webhooks': (name) => ['run-agent', 'manage-batches'].includes(name),
  identity: (name) => name === functionOf('get-me'),
  'sign-in': (name, { oidcClientId }) => oidcClientId !== null && name === 'serve-console',
  // Runs are started by requests, lines of batches and firings of schedules.
  starts: (name) => [...AGENT_FUNCTIONS, 'manage-schedules', 'rerun-execution'].includes(name),
  traces: (name) => name === 'deliver-events',
  streams: (name) => operationsWith(name).some(({ streams }) => streams),
  webhooks: (name) => SECRET_FUNCTIONS.includes(name),
}

/** The text of a value; undefined if it is what functions assume without the variable. */
function toText(row: Setting, value: unknown): string | undefined {
  if (typeof value !== 'boolean') return value === null ? undefined : String(value)
  return value === (row.local?.default ?? false) ? undefined : value ? 'on' : 'off'
}

/** The settings as functions get them. */
function toFunctionSettings(settings: ServiceSettings) {
  const { oidcIssuer, oidcMapping, oidcClientId, oidcScope, publicUrl } = settings
  return {
    ...settings,
    paused: isPaused(settings),
    publicUrl: publicUrl && parsePublicUrl(publicUrl),
    oidcScope:
      oidcClientId && oidcIssuer ? (oidcScope ?? toSignInScope(oidcIssuer, oidcMapping ?? undefined)) : null,
    // The rest is for the worker, its SDKs and payloads.
    agentMemoryMb: Math.floor(settings.agentMemoryMb / 2),
  }
}

/** The variables of the settings for which `isRead` holds. */
function variablesOf(
  settings: ServiceSettings,
  isRead: (name: SettingName, readers: readonly Reader[]) => boolean,
) {
  const values: Partial<Record<string, unknown>> = toFunctionSettings(settings)
  return Object.fromEntries(
    Object.entries(SETTINGS as Record<string, Setting>).flatMap(([key, row]) => {
      const name = key as SettingName
      const text = row.readBy && isRead(name, row.readBy) ? toText(row, values[name] ?? null) : undefined
      return text === undefined ? [] : [[variables.variableOf(name), text]]
    }),
  )
}

/** What decides how long items are kept, and whether events are marked. */
export const createTableEnvironment = (settings: ServiceSettings): Record<string, string> =>
  variablesOf(
    settings,
    (name) =>
      (TABLE_SETTINGS as readonly string[]).includes(name) &&
      (name !== 'maxWaitDays' || settings.executionRetentionDays !== null),
  )

/** The functions read these variables by the same table, or by the same constants of `lib/environment.ts`. */
export function createEnvironment(
  name: FunctionName,
  {
    table,
    queues,
    settings,
    defaultModel,
  }: {
    table: ITable
    queues: Queues
    settings: ServiceSettings
    defaultModel: string
  },
): Record<string, string> {
  const deadlines = DEADLINES[name]
  const { ofOrganization, isShared } = divideConcurrency(settings)
  const share = ofOrganization[name]
  return {
    [variables.TABLE_NAME]: table.tableName,
    [variables.METRICS_NAMESPACE]: settings.name,
    ...variablesOf({ ...settings, defaultModel }, (_, readers) =>
      readers.some((reader) => READERS[reader](name, settings)),
    ),
    ...(GRANTS[name].queue && {
      [variables.QUEUE_URL]: queues.queue.queueUrl,
      [variables.MODEL_QUEUE_URL]: queues.modelQueue.queueUrl,
    }),
    ...(GRANTS[name].deliveryQueue && { [variables.DELIVERY_QUEUE_URL]: queues.deliveryQueue.queueUrl }),
    ...((usesModels(name, settings) || readsTraceHeaders(name, settings)) && {
      [variables.SECRETS_PREFIX]: getSecretsPath(settings),
    }),
    ...(usesModels(name, settings) && {
      // The names of the parameters with API keys. Functions read the values at run time.
      ...Object.fromEntries(
        STACK_KEYS.map(({ setting, variable }) => [variable, settings[setting]]).filter(([, name]) => name),
      ),
    }),
    ...(share !== undefined && { [variables.ORGANIZATION_CONCURRENCY]: String(share) }),
    ...(share !== undefined && isShared && { [variables.SHARED_CONCURRENCY]: 'on' }),
    ...(settings.accountConcurrency === null &&
      QUOTA_FUNCTIONS.includes(name) && {
        [variables.SHARED_CONCURRENCY]: 'unknown',
      }),
    ...(deadlines && {
      [variables.variableOf('syncDeadlineSeconds')]: String(
        deadlines[settings.responseStreaming ? 'streamed' : 'buffered'] / 1000,
      ),
    }),
  }
}
