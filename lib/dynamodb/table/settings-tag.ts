import { type Environment, variableOf } from '../../environment.ts'

/** Of a table: what commands that work on it have to know of the settings of its stack. */
export const SETTINGS_TAG = 'agent-execution-service:settings'

/** How long what is written is kept, and whether there is an event bus. */
export const TABLE_SETTINGS = [
  'auditRetentionDays',
  'executionRetentionDays',
  'maxWaitDays',
  'eventBus',
] as const

const NAMES = TABLE_SETTINGS.map(variableOf)

export const pickTableSettings = (environment: Environment): Environment =>
  Object.fromEntries(NAMES.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])))

/** Of the event bus only that there is one: its ARN may not fit into a tag. */
export const toSettingsTag = (environment: Environment): string =>
  Object.entries(pickTableSettings(environment))
    .map(([name, value]) => `${name}=${name === variableOf('eventBus') ? 'on' : value}`)
    .join(' ')

export const fromSettingsTag = (text: string): Environment =>
  pickTableSettings(Object.fromEntries(text.split(' ').map((pair) => pair.split('='))))
