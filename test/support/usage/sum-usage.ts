import {
  DIMENSION_FIELDS,
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageRow,
} from '../../../lib/core/usage.ts'

/** The sums of rows that agree in these dimensions, without the sums of the service. */
export function sumUsage(
  rows: UsageRow[],
  dimensions: readonly UsageDimension[] = USAGE_DIMENSIONS,
): UsageRow[] {
  const groups = Map.groupBy(rows, (row) =>
    JSON.stringify(dimensions.map((name) => row[DIMENSION_FIELDS[name]])),
  )
  return [...groups.values()].map((group) => {
    const [first] = group as [UsageRow]
    const key = Object.fromEntries(
      dimensions.map((name) => [DIMENSION_FIELDS[name], first[DIMENSION_FIELDS[name]]]),
    )
    const numbers = Object.entries(first).filter(([, value]) => typeof value === 'number')
    const sums = numbers.map(([name]) => [
      name,
      group.reduce((sum, row) => sum + Number(row[name as keyof UsageRow]), 0),
    ])
    const errors: Record<string, number> = {}
    for (const [code, count] of group.flatMap((row) => Object.entries(row.errors)))
      errors[code] = (errors[code] ?? 0) + count
    return { ...key, ...Object.fromEntries(sums), errors }
  })
}
