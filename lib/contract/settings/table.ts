import { ACCESS } from './access.ts'
import { LIMITS } from './limits.ts'
import { RUNNER } from './runner.ts'
import { SERVER } from './server.ts'
import { SERVICE } from './service.ts'
import { STORAGE } from './storage.ts'
import { TRACES } from './traces.ts'

/** All settings of a stack and of `npm start`. The stack adds one for each API key (`STACK_KEYS`). */
export const SETTINGS = { ...SERVER, ...SERVICE, ...LIMITS, ...RUNNER, ...ACCESS, ...STORAGE, ...TRACES }

export type SettingName = keyof typeof SETTINGS

/** Settings whose values are integers. */
export type IntegerSetting = {
  [Name in SettingName]: (typeof SETTINGS)[Name]['type'] extends 'integer' ? Name : never
}[SettingName]
