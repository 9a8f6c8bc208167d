import { format } from '@cfworker/json-schema'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { compileAdapter } from '../../../lib/schema/adapt/adapt-input.ts'
import { loadPatternEngine } from '../../../lib/schema/patterns/load-pattern-engine.ts'
import { compileStrictValidator } from '../../../lib/schema/validate/validate.ts'
import { FORMAT_TEXTS, REDOS_CORPUS } from '../../schema/patterns/redos-corpus.ts'
import { medianCpuTimes } from '../../support/processes/processes.ts'

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
    'takes linear time in the schema itself: %s',
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

describe('the data of a file', () => {
  it.each([
    (length: number) => `${'='.repeat(length)}A`,
    (length: number) => 'data:;;;;;;;;;;'.repeat(length / 15),
    (length: number) => ' '.repeat(length),
    (length: number) => '-'.repeat(length),
  ])('takes time linear in its length: %s', { retry: 3 }, (makeText) => {
    const adapt = compileAdapter({ document: { type: 'file' } })
    expectLinear([200_000, 400_000], (length) => {
      const document = { mediaType: 'application/pdf', data: makeText(length) }
      return () => void adapt({ document })
    })
  })
})
