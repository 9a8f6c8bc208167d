import { describe, expect, it } from 'vitest'
import { compileAdapter } from '../../../lib/schema/adapt/adapt-input.ts'
import { realisticGroups } from './cases/realistic-groups.ts'

const countOf = (part: 'adapted' | 'left') =>
  realisticGroups.reduce((count, group) => count + (group[part]?.length ?? 0), 0)

describe.each(realisticGroups)(
  'compileAdapter, realistic inputs: $title',
  ({ schema, adapted = [], left = [] }) => {
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
  },
)

describe('the realistic inputs', () => {
  it('are at least 300, of which at least a third is left as sent', () => {
    const [adapted, left] = [countOf('adapted'), countOf('left')]
    expect(adapted + left).toBeGreaterThanOrEqual(300)
    expect(left).toBeGreaterThanOrEqual((adapted + left) / 3)
  })
})
