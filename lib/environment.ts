import { DEFAULTS } from './contract/settings/defaults.ts'
import type { IntegerSetting, SettingName } from './contract/settings/table.ts'

/** Names of the environment variables that the stack sets and the functions read, beside those of settings. */
export const TABLE_NAME = 'TABLE_NAME'
export const QUEUE_URL = 'QUEUE_URL'
/** The queue of runs that share a worker. If it is absent, they are in the other one. */
export const MODEL_QUEUE_URL = 'MODEL_QUEUE_URL'
/** The queue of events on their way to destinations. */
export const DELIVERY_QUEUE_URL = 'DELIVERY_QUEUE_URL'
/** `on` if invocations of the runner share a process. */
export const SHARED_WORKER = 'SHARED_WORKER'
/** Endpoints of emulators; absent on AWS. */
export const DYNAMODB_ENDPOINT = 'DYNAMODB_ENDPOINT'
export const SQS_ENDPOINT = 'SQS_ENDPOINT'
export const EVENTBRIDGE_ENDPOINT = 'EVENTBRIDGE_ENDPOINT'

/** Folder of the files of the console. On AWS they are part of the function. */
export const CONSOLE_FOLDER = 'CONSOLE_FOLDER'

/**
 * CloudWatch namespace of the metrics of `lib/metrics.ts`. Set if standard output goes to CloudWatch Logs, which
 * extracts them.
 */
export const METRICS_NAMESPACE = 'METRICS_NAMESPACE'

/**
 * An integer: processes of this function that the open requests of one organization may occupy. Absent if nothing
 * limits them, and where a process has several requests at a time.
 */
export const ORGANIZATION_CONCURRENCY = 'ORGANIZATION_CONCURRENCY'

/**
 * `on` if all functions share a small quota: their processes are counted together, and streams end after a minute.
 * `unknown` if only the sweeper can tell, which stores the quota of the account.
 */
export const SHARED_CONCURRENCY = 'SHARED_CONCURRENCY'

/** The organization whose clients may name loopback addresses; absent on AWS. */
export const LOOPBACK_ORGANIZATION = 'LOOPBACK_ORGANIZATION'

/** SSM path of the secrets of tools and endpoints: the secret NAME is the parameter `<prefix>/NAME`. */
export const SECRETS_PREFIX = 'SECRETS_PREFIX'

export type Environment = Record<string, string | undefined>

/** @throws an Error that names the variable when it is missing or empty */
export function requireEnv(name: string, environment: Environment = process.env): string {
  const value = environment[name]
  if (!value) throw new Error(`The environment variable ${name} is not set.`)
  return value
}

/** The environment variable of a setting: `MAX_WAIT_DAYS` of `maxWaitDays`. */
export function variableOf(name: SettingName): string {
  const known = variables.get(name)
  if (known) return known
  const variable = name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
  variables.set(name, variable)
  return variable
}

/** Runs read settings. */
const variables = new Map<SettingName, string>()

type Value<Name extends SettingName> = Name extends IntegerSetting
  ? (typeof DEFAULTS)[Name]
  : string | undefined

/**
 * The value of a setting in the environment of a function, where flags are `on` or `off`. Integers have the default of
 * the table.
 * @throws an Error that names the variable when it is invalid
 */
export function readSetting<Name extends SettingName>(name: Name, environment?: Environment): Value<Name>
export function readSetting(name: SettingName, environment: Environment = process.env) {
  const variable = variableOf(name)
  const isSet = Boolean(environment[variable])
  if (!(name in DEFAULTS)) return isSet ? environment[variable] : undefined
  const unset = DEFAULTS[name as IntegerSetting]
  return unset === null && !isSet ? null : readInteger(variable, unset ?? 0, environment)
}

/** A positive integer. @throws an Error that names the variable when it is invalid */
export function readInteger(name: string, defaultValue: number, environment: Environment = process.env) {
  const value = environment[name] || String(defaultValue)
  if (/^[1-9][0-9]{0,6}$/.test(value)) return Number(value)
  throw new Error(`The environment variable ${name} is "${value}"; it must be an integer from 1 to 9999999.`)
}
