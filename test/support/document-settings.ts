import type * as z from 'zod'
import { docOf } from '../../lib/settings.ts'

/** The rows of the table that documents the settings. */
export function documentSettings(shape: z.ZodRawShape): string[] {
  const rows = Object.entries(shape).map(([name, schema]) => {
    const { allowed, description, shownName = name, shownDefault } = docOf(schema as z.ZodType)
    const unset = (schema as z.ZodType).parse(undefined)
    const shown = shownDefault ?? (unset === null ? 'none' : `\`${unset}\``)
    return `| \`${shownName}\` | ${shown} | ${allowed} | ${description} |`
  })
  return [...new Set(rows)]
}
