import { describe, expect, it } from 'vitest'
import { compileAdapter } from '../../../lib/schema/adapt/adapt-input.ts'
import { envelopes } from './cases/envelopes.ts'
import { formsAndTables } from './cases/forms-and-tables.ts'
import { names } from './cases/names.ts'
import { values } from './cases/values.ts'

const groups = [...names, ...envelopes, ...values, ...formsAndTables]

const countOf = (part: 'adapted' | 'left') =>
  groups.reduce((count, group) => count + (group[part]?.length ?? 0), 0)

describe.each(groups)('compileAdapter, realistic inputs: $title', ({ schema, adapted = [], left = [] }) => {
  const adapt = compileAdapter(schema)

  it.each(adapted)('adapts %j to %j', (sent, effective) => {
    const before = JSON.stringify(sent)
    const result = adapt(sent)
    expect(result.input).toEqual(effective)
    expect(result.adaptations).not.toEqual([])
    expect(JSON.stringify(sent)).toBe(before)
    expect(adapt(result.input)).toEqual({ input: effective, adaptations: [] })
  })

  it.each(left)('leaves %j as sent', (sent) => {
    expect(adapt(sent)).toEqual({ input: sent, adaptations: [] })
  })
})

describe('the realistic inputs', () => {
  it('are at least 300, of which at least a third is left as sent', () => {
    const [adapted, left] = [countOf('adapted'), countOf('left')]
    expect(adapted + left).toBeGreaterThanOrEqual(300)
    expect(left).toBeGreaterThanOrEqual((adapted + left) / 3)
  })
})
