import {
  AUDIT_RETENTION_DAYS,
  type Environment,
  EVENT_BUS,
  EXECUTION_RETENTION_DAYS,
  MAX_WAIT_DAYS,
} from '../../environment.ts'

/** Of a table: what commands that work on it have to know of the settings of its stack. */
export const SETTINGS_TAG = 'agent-execution-service:settings'

/** How long what is written is kept, and whether there is an event bus. */
const NAMES = [AUDIT_RETENTION_DAYS, EXECUTION_RETENTION_DAYS, MAX_WAIT_DAYS, EVENT_BUS]

export const pickTableSettings = (environment: Environment): Environment =>
  Object.fromEntries(NAMES.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])))

/** Of the event bus only that there is one: its ARN may not fit into a tag. */
export const toSettingsTag = (environment: Environment): string =>
  Object.entries(pickTableSettings(environment))
    .map(([name, value]) => `${name}=${name === EVENT_BUS ? 'on' : value}`)
    .join(' ')

export const fromSettingsTag = (text: string): Environment =>
  pickTableSettings(Object.fromEntries(text.split(' ').map((pair) => pair.split('='))))
