import { expect, it } from 'vitest'
import { traceparentOf } from '../../lib/core/traceparent.ts'

it('a run has the trace context that its id says, in the form of the W3C', () => {
  expect(traceparentOf('01A2003a-d1f2-7169-a695-5ea4428d9251')).toBe(
    '00-01a2003ad1f27169a6955ea4428d9251-a6955ea4428d9251-01',
  )
})
