import type { Node } from 'constructs'
import { findSimilarName } from '../lib/schema/similar-names.ts'
import type { Setting } from './setting.ts'
import { SETTINGS, type Settings } from './settings.ts'

/** Keys of the CDK itself without `@` or `:`. `cdk acknowledge` writes the second one. */
const CDK_KEYS = ['cli-telemetry', 'acknowledged-issue-numbers']

/**
 * Reads the settings from the CDK context of a construct node.
 * @throws an Error that names the setting, its value and the allowed values, or an unknown key and the setting most like it
 */
export function readSettings(node: Node): Settings {
  rejectUnknownKeys(Object.keys(node.getAllContext()))
  const entries = Object.entries(SETTINGS).map(([name, setting]) => [name, readSetting(node, name, setting)])
  const settings = Object.fromEntries(entries) as Settings
  rejectCombinations(settings)
  return settings
}

/** A misspelled setting would otherwise deploy its default. Feature flags contain `@`; what the CDK CLI passes contains `:`. */
function rejectUnknownKeys(keys: string[]): void {
  const names = Object.keys(SETTINGS)
  const unknown = keys.filter((key) => !names.includes(key) && !CDK_KEYS.includes(key) && !/[@:]/.test(key))
  if (unknown.length === 0) return
  const messages = unknown.map((key) => {
    const similar = findSimilarName(key, names)
    const hint = similar ? `did you mean ${similar}?` : `the settings are ${names.join(', ')}.`
    return `Unknown context key ${key}; ${hint}`
  })
  throw new Error(messages.join('\n'))
}

function rejectCombinations(settings: Settings): void {
  const { domainName, certificateArn, domainBasePath, disableExecuteApiEndpoint, monitoring, alarmEmail } =
    settings
  const reject = (reason: string) => {
    throw new Error(`Invalid context: ${reason}`)
  }
  if ((domainName === null) !== (certificateArn === null))
    reject('set both domainName and certificateArn, or neither.')
  if (domainBasePath && !domainName) reject('domainBasePath requires domainName.')
  if (disableExecuteApiEndpoint && !domainName)
    reject('disableExecuteApiEndpoint=true requires domainName; clients could not reach the API.')
  if (alarmEmail && !monitoring)
    reject('alarmEmail requires monitoring=true; without alarms, nothing is sent.')
}

function readSetting(node: Node, name: string, setting: Setting<unknown>): unknown {
  const text = String(node.tryGetContext(name) ?? '')
  if (text === '') return setting.default
  const value = setting.parse(text)
  if (value === undefined) {
    const allowed = setting.allowed.replaceAll('`', '')
    throw new Error(`Invalid context value ${name}: "${text}". Allowed: ${allowed}.`)
  }
  return value
}
