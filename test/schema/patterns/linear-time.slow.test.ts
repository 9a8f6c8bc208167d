import { format } from '@cfworker/json-schema'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadPatternEngine } from '../../../lib/schema/patterns/load-pattern-engine.ts'
import { compileStrictValidator } from '../../../lib/schema/validate/validate.ts'
import { medianCpuTimes } from '../../support/processes/cpu-time.ts'
import { FORMAT_TEXTS, REDOS_CORPUS } from './redos-corpus.ts'

beforeAll(loadPatternEngine)

/** Twice the length may take 2.5 times as long. Times below a few milliseconds are not compared. */
function expectLinear(sizes: [number, number], prepare: (size: number) => () => void): void {
  const [small = 0, large = 0] = medianCpuTimes(sizes, prepare, 5)
  expect(large).toBeLessThanOrEqual(2.5 * Math.max(small, 4))
}

describe('a pattern', () => {
  it.each(REDOS_CORPUS)(
    'takes time linear in the length of the text: %s',
    { retry: 3 },
    (pattern, makeText) => {
      const validate = compileStrictValidator({
        type: 'object',
        properties: { text: { type: 'string', pattern } },
      })
      expectLinear([200_000, 400_000], (length) => {
        const value = { text: makeText(length) }
        return () => validate(value)
      })
    },
  )
})

describe('a format', () => {
  it.each(Object.keys(format))('takes time linear in the length of the text: %s', { retry: 3 }, (name) => {
    const validate = compileStrictValidator({
      type: 'object',
      properties: { text: { type: 'string', format: name } },
    })
    for (const makeText of FORMAT_TEXTS)
      expectLinear([100_000, 200_000], (length) => {
        const value = { text: makeText(length) }
        return () => validate(value)
      })
  })

  it.each(['uri', 'uri-reference', 'regex'] as const)(
    'of the schema itself takes linear time: %s',
    { retry: 3 },
    (name) => {
      const check = fullFormats[name] as RegExp | ((text: string) => boolean)
      const isValid = typeof check === 'function' ? check : (text: string) => check.test(text)
      for (const makeText of FORMAT_TEXTS)
        expectLinear([100_000, 200_000], (length) => {
          const text = makeText(length)
          return () => void isValid(text)
        })
    },
  )
})
