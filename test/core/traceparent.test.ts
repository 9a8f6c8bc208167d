import { describe, expect, it } from 'vitest'
import {
  isTraceSampled,
  spanIdOf,
  toTraceparent,
  traceContextOf,
  traceparentOf,
} from '../../lib/core/traceparent.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const GIVEN = `00-${TRACE}-${SPAN}-01`
const ID = '01A2003a-d1f2-7169-a695-5ea4428d9251'

describe('toTraceparent', () => {
  it.each([
    ['as it is', GIVEN, GIVEN],
    ['without other flags', `00-${TRACE}-${SPAN}-03`, GIVEN],
    ['that is not sampled', `00-${TRACE}-${SPAN}-02`, `00-${TRACE}-${SPAN}-00`],
    ['of a higher version', `cc-${TRACE}-${SPAN}-01`, GIVEN],
    ['of a higher version with more fields', `cc-${TRACE}-${SPAN}-01-what-the-future-has`, GIVEN],
  ])('accepts one %s', (_, given, expected) => {
    expect(toTraceparent(given)).toBe(expected)
  })

  it.each([
    undefined,
    null,
    7,
    '',
    'x',
    `ff-${TRACE}-${SPAN}-01`,
    `0-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}-01-`,
    `cc-${TRACE}-${SPAN}-01.more`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE.slice(1)}-${SPAN}-01`,
    `00-${TRACE}0-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${SPAN}-zz`,
    `${GIVEN},${GIVEN}`,
    ` ${GIVEN}`,
    `${GIVEN}\n`,
  ])('ignores %j', (given) => {
    expect(toTraceparent(given)).toBeNull()
  })
})

const spanId = 'a6955ea4428d9251'
const traceId = `01a2003ad1f27169${spanId}`

it.each([
  ['derives from the id without a traceparent', null, { traceId, parentSpanId: null, isSampled: null }],
  [
    'continues a trace, in the span of the run',
    GIVEN,
    { traceId: TRACE, parentSpanId: SPAN, isSampled: true },
  ],
])('traceContextOf %s', (_, traceparent, expected) => {
  expect(traceContextOf({ id: ID, traceparent })).toEqual({ ...expected, spanId })
})

it('traceparentOf names the span of the run, or that of a call, and hands on whether it is sampled', () => {
  const run = { id: ID, traceparent: null }
  expect(traceparentOf(run, 100)).toBe(`00-${traceId}-${spanId}-01`)
  expect(traceparentOf(run, 100, 'a')).toBe(`00-${traceId}-${spanIdOf('a')}-01`)
  expect(toTraceparent(traceparentOf(run, 100, 'a'))).toBe(traceparentOf(run, 100, 'a'))
  expect(spanIdOf('a')).not.toBe(spanIdOf('b'))
  const given = { id: ID, traceparent: `00-${TRACE}-${SPAN}-00` }
  expect(traceparentOf(given, 100)).toBe(`00-${TRACE}-${spanId}-00`)
})

describe('isTraceSampled', () => {
  const withEnd = (end: string) => ({ id: `01a2003a-d1f2-7169-a695-5ea4${end}`, traceparent: null })

  it('samples by the random digits of the id', () => {
    expect(isTraceSampled(withEnd('00000000'), 1)).toBe(true)
    expect(isTraceSampled(withEnd('7fffffff'), 50)).toBe(true)
    expect(isTraceSampled(withEnd('80000000'), 50)).toBe(false)
    expect(isTraceSampled(withEnd('ffffffff'), 99)).toBe(false)
    expect(isTraceSampled(withEnd('ffffffff'), 100)).toBe(true)
  })

  it('leaves the decision to whoever began the trace', () => {
    expect(isTraceSampled({ ...withEnd('ffffffff'), traceparent: GIVEN }, 1)).toBe(true)
    expect(isTraceSampled({ ...withEnd('00000000'), traceparent: `00-${TRACE}-${SPAN}-00` }, 100)).toBe(false)
  })
})
