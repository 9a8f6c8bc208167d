import { allowedOf } from '../../lib/contract/parse-settings.ts'
import type { Settings } from '../../lib/contract/settings/setting.ts'

/** The rows of the table that documents the settings. */
export function documentSettings(table: Settings, nameOf = (name: string) => name): string[] {
  const rows = Object.entries(table).map(([name, row]) => {
    const { description, shownName = nameOf(name), shownDefault } = row
    const shown = shownDefault ?? (row.default === null ? 'none' : `\`${row.default}\``)
    return `| \`${shownName}\` | ${shown} | ${allowedOf(row)} | ${description} |`
  })
  return [...new Set(rows)]
}
