import { Token } from 'aws-cdk-lib'
import type { Node } from 'constructs'
import { findMissingSetting } from '../lib/access/identity-settings.ts'
import { type Problem, parseSettings, type ValuesOf } from '../lib/contract/parse-settings.ts'
import type { Setting } from '../lib/contract/settings/setting.ts'
import { SETTINGS, type SettingName } from '../lib/contract/settings/table.ts'
import { MIN_RETENTION_DAYS } from '../lib/core/limits.ts'
import { type KeySetting, STACK_KEYS } from '../lib/models/providers/provider-settings.ts'
import { findSimilarName } from '../lib/schema/similar-names.ts'
import { divideConcurrency } from './functions/concurrency.ts'
import { parseAlarmSubscriptions } from './monitoring/subscriptions.ts'

type StackSettings = {
  [Name in SettingName as (typeof SETTINGS)[Name]['where'] extends 'local'
    ? never
    : Name]: (typeof SETTINGS)[Name]
}

const KEY_SETTING = {
  where: 'stack',
  type: 'text',
  default: null,
  // https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html
  pattern: /^(?=.{1,1011}$)((\/[\w.-]+){1,15}|[\w.-]+)$/,
  allowed: 'the name of an SSM parameter (SecureString, with the key `aws/ssm`)',
  shownName: '{provider}KeyParameter',
  description: 'Parameter that holds the API key of a [model provider](models.md#providers).',
} as const satisfies Setting

/** The rows of the table that a stack has, and one for each API key, such as `openaiKeyParameter`. */
export const STACK_SETTINGS = Object.fromEntries([
  ...Object.entries(SETTINGS).filter(([, { where }]) => where !== 'local'),
  ...STACK_KEYS.map(({ setting }) => [setting, KEY_SETTING]),
]) as StackSettings & Record<KeySetting, typeof KEY_SETTING>

/** The settings of the stack. */
export type Settings = ValuesOf<typeof STACK_SETTINGS>

/** The settings of a service, whose name is not always that of its stack. */
export type ServiceSettings = Omit<Settings, 'stackName'> & { name: string }

/** `undefined` and null: the default. */
export type SettingProps = {
  [Name in Exclude<keyof Settings, 'stackName'>]?: Settings[Name] | null | undefined
}

const MAX_MODEL_SETTINGS = 2_500

/** Keys of the CDK itself without `@` or `:`. `cdk acknowledge` writes the second one. */
const CDK_KEYS = ['cli-telemetry', 'acknowledged-issue-numbers']

/**
 * Reads the settings from the CDK context of a construct node.
 * @throws an Error that names each setting with an invalid value and the allowed values, or each unknown key and the
 * setting most like it
 */
export function readSettings(node: Node): Settings {
  // Feature flags contain `@`; keys of the CDK CLI contain `:`.
  const keys = Object.keys(node.getAllContext()).filter((key) => !CDK_KEYS.includes(key) && !/[@:]/.test(key))
  const context = Object.fromEntries(keys.map((key) => [key, node.tryGetContext(key)]))
  rejectUnknown(context, Object.keys(STACK_SETTINGS), 'context key')
  return parseValues(context, 'context value')
}

/**
 * Checks the props of a construct like the context of the stack.
 * @throws an Error as `readSettings`
 */
export function parseProps({ name, ...props }: SettingProps & { name: string }): ServiceSettings {
  const { stackName: _, ...names } = STACK_SETTINGS
  rejectUnknown(props, Object.keys(names), 'prop')
  const { stackName, ...settings } = parseValues({ ...props, stackName: name }, 'prop')
  return { name: stackName, ...settings }
}

function parseValues(values: Record<string, unknown>, kind: 'context value' | 'prop'): Settings {
  const textOf = (name: string) => String(values[name] ?? '')
  const explain = ({ name, value, allowed, reason }: Problem) => {
    const shownName = kind === 'prop' && name === 'stackName' ? 'name' : name
    // Someone may have written a key where a reference belongs.
    const shown = name === 'modelEndpoints' ? '' : `: "${value}"`
    const token = Token.isUnresolved(value) ? 'It is known only during deployment.' : undefined
    return [`Invalid ${kind} ${shownName}${shown}. Allowed: ${allowed}.`, token ?? reason ?? []]
      .flat()
      .join(' ')
  }
  const settings = parseSettings(STACK_SETTINGS, textOf, explain, {
    environment: { MODEL_ENDPOINTS: textOf('modelEndpoints') },
    parsers: { alarmTargets: parseAlarmSubscriptions },
  })
  rejectCombinations(settings)
  return settings
}

/** A table that the stack did not create is attached without anything that could run the executions in it. */
export const isPaused = ({ paused, tableName }: Pick<Settings, 'paused' | 'tableName'>): boolean =>
  paused ?? tableName !== null

/** A misspelled setting would deploy its default. */
function rejectUnknown(values: Record<string, unknown>, names: string[], kind: string): void {
  const unknown = Object.keys(values).filter((key) => !names.includes(key))
  if (unknown.length === 0) return
  const messages = unknown.map((key) => {
    const similar = findSimilarName(key, names)
    const hint = similar ? `did you mean ${similar}?` : `the settings are ${names.join(', ')}.`
    return `Unknown ${kind} ${key}; ${hint}`
  })
  throw new Error(messages.join('\n'))
}

function rejectCombinations(settings: Settings): void {
  const { domainName, certificateArn, domainBasePath, disableExecuteApiEndpoint } = settings
  const { monitoring, alarmSubscriptions, deployment } = settings
  const { modelPrices, modelEndpoints, vpcId, subnetIds, securityGroupIds } = settings
  const { provisionedReadUnits, provisionedWriteUnits } = settings
  const { eventBus, otlpEndpoint, executionRetentionDays } = settings
  const reject = (reason: string) => {
    throw new Error(`Invalid settings: ${reason}`)
  }
  if ((domainName === null) !== (certificateArn === null))
    reject('set both domainName and certificateArn, or neither.')
  // Lambda allows 4 KB for all variables of a function.
  if ((modelPrices?.length ?? 0) + (modelEndpoints?.length ?? 0) > MAX_MODEL_SETTINGS)
    reject(`modelPrices and modelEndpoints may have ${MAX_MODEL_SETTINGS} characters together.`)
  if ((vpcId === null) !== (subnetIds === null)) reject('set both vpcId and subnetIds, or neither.')
  if (securityGroupIds && !vpcId) reject('securityGroupIds requires vpcId and subnetIds.')
  if (settings.runnerInstanceVcpus && !vpcId)
    reject('runnerInstanceVcpus requires vpcId and subnetIds, in which the instances run.')
  if (domainBasePath && !domainName) reject('domainBasePath requires domainName.')
  if (disableExecuteApiEndpoint && !domainName)
    reject('disableExecuteApiEndpoint=true requires domainName; clients could not reach the API.')
  if (alarmSubscriptions && !monitoring)
    reject('alarmSubscriptions requires monitoring=true; without alarms, nothing is sent.')
  if (deployment !== 'allAtOnce' && !monitoring)
    reject(`deployment=${deployment} requires monitoring=true; without alarms, no release would be undone.`)
  if ((provisionedReadUnits === null) !== (provisionedWriteUnits === null))
    reject('set both provisionedReadUnits and provisionedWriteUnits, or neither.')
  const delivered = eventBus ? 'eventBus' : otlpEndpoint ? 'otlpEndpoint' : null
  if (delivered && (executionRetentionDays ?? MIN_RETENTION_DAYS) < MIN_RETENTION_DAYS)
    reject(
      `${delivered} requires executionRetentionDays to be at least ${MIN_RETENTION_DAYS}, or unset: deliveries are retried for three days.`,
    )
  const missing = findMissingSetting(settings)
  if (missing) reject(missing)
  for (const unit of ['Read', 'Write'] as const)
    if (
      (settings[`max${unit}Units`] ?? Number.POSITIVE_INFINITY) < (settings[`provisioned${unit}Units`] ?? 0)
    )
      reject(`max${unit}Units must not be less than provisioned${unit}Units.`)
  divideConcurrency(settings)
}
