import type { Setting } from './setting.ts'
import { type IntegerSetting, SETTINGS } from './table.ts'

type Defaults = {
  [Name in IntegerSetting]: null extends (typeof SETTINGS)[Name]['default'] ? number | null : number
}

/**
 * What functions assume without a variable, of settings that are integers. Bundles contain the result instead of the
 * table and its texts (`bundle-plugins.ts`).
 */
export const DEFAULTS = Object.fromEntries(
  Object.entries(SETTINGS as Record<string, Setting>)
    .filter(([, { type, where, readBy }]) => type === 'integer' && (where !== 'stack' || readBy))
    .map(([name, row]) => [name, row.local?.default ?? row.default]),
) as Defaults
