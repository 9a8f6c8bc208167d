/** The rows of the table of settings are plain data. `parse-settings.ts` reads values by them. */

/** Texts with a format of their own, which `parse-settings.ts` parses. */
export type Grammar =
  | 'alarmTargets'
  | 'audiences'
  | 'clientId'
  | 'embeddingModel'
  | 'eventBus'
  | 'hosts'
  | 'httpUrl'
  | 'issuer'
  | 'mapping'
  | 'modelEndpoints'
  | 'modelName'
  | 'modelPrices'
  | 'origin'
  | 'origins'
  | 'publicUrl'
  | 'scopes'
  | 'token'

/** Functions of a stack that get a setting as an environment variable: `infra/functions/environment.ts` lists them. */
export type Reader =
  | 'all'
  | 'agents'
  | 'audit-log'
  | 'authorizer'
  | 'bodies'
  | 'changes'
  | 'deliveries'
  | 'endpoints'
  | 'model-calls'
  | 'models'
  | 'private-hosts'
  | 'publishing'
  | 'resource-metadata'
  | 'retention'
  | 'run-webhooks'
  | 'identity'
  | 'sign-in'
  | 'starts'
  | 'streams'
  | 'traces'
  | 'webhooks'

type Doc = {
  description: string
  /** The allowed values in words, if neither the type nor the grammar says them. */
  allowed?: string
  /** What the documentation shows instead of the name and the default. Settings with the same name share a row. */
  shownName?: string
  shownDefault?: string
}

/** The default of a setting without one is null. Lists are separated by commas. `maxLength`: only of a stack. */
type Format =
  | { type: 'flag'; default: boolean | null }
  | { type: 'integer'; default: number | null; min?: number; max?: number }
  | { type: 'choice'; default: string | number; values: readonly (string | number)[] }
  | { type: 'text'; default: string | null; pattern?: RegExp; allowed: string }
  | { type: 'list'; default: null; pattern: RegExp; max: number; allowed: string }
  | { type: Grammar; default: null; maxLength?: number }

export type Setting = Doc &
  Format & {
    /** `stack`: CDK context under this name. `local`: a variable of `npm start`, which `variableOf` names. */
    where: 'stack' | 'local' | 'both'
    readBy?: readonly Reader[]
    /** In an app of the CDK, it can be an attribute of a resource, which is known only during deployment. */
    mayBeAttribute?: true
    /** What differs for `npm start`. Its default is also what functions assume without the variable. */
    local?: Partial<Doc> & { default?: boolean | number; min?: number; max?: number }
  }

export type Settings = Record<string, Setting>

/** The maximum of integers without one: what `readInteger` accepts. */
export const MAX_INTEGER = 9_999_999

/** What rows have in common. A setting that is null is unset. */
export const OPTIONAL = { where: 'both', default: null } as const
export const STACK_FLAG = { where: 'stack', type: 'flag', default: false } as const
export const STACK_INTEGER = { where: 'stack', type: 'integer', default: null } as const
export const STACK_TEXT = { where: 'stack', type: 'text', default: null } as const
export const STACK_LIST = { where: 'stack', type: 'list', default: null } as const
export const LOCAL_URL = { where: 'local', type: 'httpUrl', default: null } as const
